import type { Objects } from '../../kernel/outside.ts';
import type { HistoryVisibility } from '../../model/realm/realm.ts';
import type { Table } from '../../table/table.ts';
import type { ArchiveFile } from './archive.ts';
import type { ExportPlan, Scope } from './export-plan.ts';
import type { From } from './progress.ts';

/** What sections of an archive are made from. */
export interface Snapshot {
  readonly table: Table;
  readonly realm: string;
  readonly plan: ExportPlan;
  readonly scope: Scope;
  readonly objects: Pick<Objects, 'get'>;
  /** What is exported of earlier versions of messages: what the organization shows, or all. */
  readonly historyVisibility: HistoryVisibility;
}

/** How much a file still takes. */
export interface Room {
  readonly lines: number;
  readonly bytes: number;
}

/** A part of a section that fits into memory. */
export interface SectionPage {
  /** Records, each as JSON in one line. */
  readonly lines?: readonly string[];
  /** Files that are not records. */
  readonly files?: readonly ArchiveFile[];
  /** Where the section goes on; undefined at its end. */
  readonly next: From | undefined;
}

/** Reads a section from a place on: at most as many lines as there is room for, and hardly more bytes. */
export type Section = (snapshot: Snapshot, from: From, room: Room) => Promise<SectionPage>;
