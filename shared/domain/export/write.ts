import type { Objects, Outside, Queues, Upload, Uploads } from '../../kernel/outside.ts';
import { logOf } from '../../log/log.ts';
import { closingMember, Draft, type Manifest, type SectionPage, type Snapshot } from './archive-file.ts';
import { type ExportPlan, makePlan, scopeOf } from './plan.ts';
import {
  after,
  archiveKey,
  EXPORTS,
  type ExportJob,
  type Place,
  type Progress,
  type RealmExport,
  recordSections,
  type SectionName,
  START,
  sectionNames,
} from './realm-export.ts';
import { sections } from './sections.ts';
import { updateExport } from './state.ts';

/** Smallest part of a multipart upload except the last one: a limit of S3. */
const PART = 5 * 1024 * 1024;

/**
 * Least time for one page of the log, ms. A partition gives 3,000 read units a second and a page takes at most 256, so
 * two thirds of the capacity stay free for people who chat.
 */
const PACE = 250;

/** The clients of the worker, without the table. */
export interface ExportTools {
  readonly queues: Queues;
  readonly objects: Objects;
  readonly uploads: Uploads;
}

/** An export job and everything needed to run it. */
export interface ExportTask {
  readonly outside: Outside;
  readonly tools: ExportTools;
  readonly job: ExportJob;
}

/** S3 objects that one run leaves for the next. Each run writes its own, so that no run overwrites another's. */
const keptKey = ({ realm, token }: ExportJob, claim: number, what: 'plan' | 'tail'): string =>
  `${realm}/exports/${token}/${what}-${claim}`;

/** All objects that `claims` runs may have left. */
export const keptKeys = (job: ExportJob, claims: number): string[] =>
  Array.from({ length: claims }, (_, i) => [keptKey(job, i + 1, 'plan'), keptKey(job, i + 1, 'tail')]).flat();

/** The multipart upload of the archive. */
export const uploadOf = ({ realm, token }: ExportJob, { upload }: Pick<Progress, 'upload'>): Upload => ({
  bucket: EXPORTS,
  key: archiveKey(realm, token),
  id: upload,
});

/** A run that holds the lease, with its progress. */
interface Run extends ExportTask {
  readonly mine: RealmExport;
  /** The top folder inside the archive. */
  readonly folder: string;
  part: number;
  progress: Progress;
}

/**
 * Writes the archive from its current place until it is complete or `ends` (ms) is reached. Returns whether it is
 * complete. Progress is saved whenever a part is uploaded, and at the end.
 */
export async function writeArchive(task: ExportTask, mine: RealmExport, ends: number): Promise<boolean> {
  const { tools, job } = task;
  const progress = mine.progress ?? (await begin(task, mine));
  const folder = `organization-export-${mine.exportId}`;
  const run: Run = { ...task, mine, folder, part: mine.part, progress };
  if (progress.place.section !== 'done') {
    const kept = progress.tail === undefined ? undefined : await readKept(tools, progress.tail);
    const draft = new Draft(mine.requested, kept);
    if (!(await writeSections(run, draft, await snapshotOf(run), ends))) return false;
    await writeEnd(run, draft);
  }
  await tools.uploads.complete(uploadOf(job, progress), run.progress.parts);
  return true;
}

/** Plans the export and starts the upload. */
async function begin(
  { outside, tools: { objects, uploads }, job }: ExportTask,
  { claim, type }: RealmExport,
): Promise<Progress> {
  const made = await makePlan(logOf(outside, job.realm), type);
  const plan = keptKey(job, claim, 'plan');
  await objects.put(EXPORTS, plan, Buffer.from(JSON.stringify(made)), 'application/json');
  const progress: Progress = {
    place: { section: sectionNames[0], from: START, file: 0 },
    until: made.until,
    plan,
    upload: await uploads.begin(EXPORTS, archiveKey(job.realm, job.token), 'application/gzip'),
    parts: [],
    bytes: 0,
    counts: {},
  };
  await updateExport(outside, job, claim, { set: { progress } });
  return progress;
}

/** Reads an object that an earlier run left. It is deleted only after the export has ended. */
async function readKept({ objects }: ExportTools, at: string): Promise<Uint8Array> {
  const found = await objects.get(EXPORTS, at);
  if (found === undefined) throw new Error('an object that an earlier run of the export left is gone');
  return found.bytes;
}

async function snapshotOf({ outside, tools, job: { realm }, mine, progress }: Run): Promise<Snapshot> {
  const { table } = outside;
  const [kept, organization] = await Promise.all([
    readKept(tools, progress.plan),
    table.get('realm', { realm }),
  ]);
  if (organization === undefined) throw new Error('the organization is gone');
  const plan: ExportPlan = JSON.parse(Buffer.from(kept).toString());
  const { message_edit_history_visibility_policy: shown } = organization.settings;
  return {
    table,
    realm,
    plan,
    scope: scopeOf(plan),
    objects: tools.objects,
    historyVisibility: mine.type === 'full_without_consent' ? 'all' : shown,
  };
}

/** Writes sections page by page. Returns false if time ran out. A run writes at least one page. */
async function writeSections(run: Run, draft: Draft, snapshot: Snapshot, ends: number): Promise<boolean> {
  const { now, wait } = run.outside;
  for (;;) {
    const { section, from, file } = run.progress.place;
    if (section === 'end' || section === 'done') return true;
    const started = now();
    const page = await sections[section](snapshot, from, draft.room);
    const isLate = now() >= ends;
    const files = file + (await pack(run, draft, { section, file }, page, isLate));
    advance(run, section, page, files);
    if (draft.size >= PART) await sendPart(run, draft);
    if (isLate && run.progress.place.section !== 'end') {
      await keepTail(run, draft);
      return false;
    }
    if (section === 'messages') await wait(Math.max(0, PACE - (now() - started)));
  }
}

/**
 * Adds a page to the draft. Saved progress counts finished files only, so the open file is closed when it is full, when a
 * part is full, or when the run must end. Returns how many files were closed.
 */
async function pack(
  { folder }: Run,
  draft: Draft,
  { section, file }: Pick<Place, 'section' | 'file'>,
  { files = [], lines = [], next }: SectionPage,
  isLate: boolean,
): Promise<number> {
  for (const { name, bytes } of files) await draft.addFile({ name: `${folder}/${name}`, bytes });
  draft.addLines(lines);
  const isDue = next === undefined || draft.isFull || draft.size >= PART || isLate;
  if (!isDue || !draft.isOpen) return 0;
  await draft.closeFile(`${folder}/${section}/${String(file + 1).padStart(6, '0')}.jsonl`);
  return 1;
}

/** Moves the progress past a page that is in the draft. */
function advance(run: Run, section: SectionName, { lines = [], next }: SectionPage, file: number): void {
  const { counts } = run.progress;
  run.progress = {
    ...run.progress,
    place: next === undefined ? after(section) : { section, from: next, file },
    counts: { ...counts, [section]: (counts[section] ?? 0) + lines.length },
  };
}

/** Uploads the draft as the next part and saves the progress. */
async function sendPart(run: Run, draft: Draft): Promise<void> {
  const { job, mine, outside, tools } = run;
  const { tail: _, ...progress } = run.progress;
  const bytes = draft.takeMembers();
  const number = run.part++;
  const mark = await tools.uploads.putPart(uploadOf(job, progress), number, bytes);
  run.progress = {
    ...progress,
    parts: [...progress.parts, { number, mark }],
    bytes: progress.bytes + bytes.byteLength,
  };
  const set = { progress: run.progress, part: run.part, tries: 0 };
  await updateExport(outside, job, mine.claim, { set });
}

/** Saves what is too small for a part, and releases the lease for the next run. */
async function keepTail(run: Run, draft: Draft): Promise<void> {
  const { job, mine, outside, tools } = run;
  const { tail: _, ...progress } = run.progress;
  const bytes = draft.takeMembers();
  const tail = keptKey(job, mine.claim, 'tail');
  if (bytes.byteLength > 0) await tools.objects.put(EXPORTS, tail, bytes, 'application/gzip');
  const saved = { ...progress, ...(bytes.byteLength > 0 && { tail }) };
  await updateExport(outside, job, mine.claim, { set: { progress: saved, tries: 0, leased: 0 } });
}

/** Writes the manifest, which shows a reader that the archive is complete, and the end of the tar file. */
async function writeEnd(run: Run, draft: Draft): Promise<void> {
  const { folder, mine, progress } = run;
  const manifest: Manifest = {
    format: 'parlance-export',
    version: 1,
    export_id: mine.exportId,
    export_type: mine.type,
    export_time: mine.requested / 1000,
    counts: Object.fromEntries(recordSections.map((name) => [name, progress.counts[name] ?? 0])),
  };
  const bytes = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);
  await draft.addFile({ name: `${folder}/manifest.json`, bytes });
  draft.addMember(await closingMember());
  run.progress = { ...progress, place: { section: 'done', from: START, file: 0 } };
  await sendPart(run, draft);
}
