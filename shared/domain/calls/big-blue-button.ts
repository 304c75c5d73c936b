import { createHmac } from 'node:crypto';
import type { Environment } from '../../environment.ts';
import { outgoing, Unreachable } from '../../http/outgoing.ts';
import { badRequest } from '../../kernel/errors.ts';
import type { Outside, Secrets } from '../../kernel/outside.ts';
import { codePoints, digestOf, isSameSecret } from '../../kernel/text.ts';
import { below } from './provider.ts';

/** The server of the operator, where everybody may join a meeting who has its link (companion facts 4.7). */
interface BigBlueButton {
  readonly url: string;
  readonly secret: string;
}

/** A meeting that a link leads to. The server of meetings hears of it when somebody joins. */
export interface Meeting {
  readonly id: string;
  readonly name: string;
  readonly isVoiceOnly: boolean;
  /** Who made the link. */
  readonly moderatorId: number;
}

/** What a link says, besides its signature. */
interface Signed extends Meeting {
  readonly realm: string;
}

/** How long (ms) the server may take to create a meeting. */
const TIMEOUT_MS = 5_000;

const MAX_NAME = 300;

/** The server that the operator configured; undefined if there is none. */
export async function loadBigBlueButton(
  { BIG_BLUE_BUTTON_URL: url }: Environment,
  secrets: Secrets,
): Promise<BigBlueButton | undefined> {
  const secret = url ? await secrets.get('big-blue-button-secret') : undefined;
  return url && secret ? { url, secret } : undefined;
}

/** The name of a new meeting. Throws `BAD_REQUEST`. */
export function checkMeetingName(given: string): string {
  const name = given.trim();
  if (name === '') throw badRequest('A meeting needs a name.');
  if (codePoints(name) > MAX_NAME)
    throw badRequest(`The name of a meeting has at most ${MAX_NAME} characters.`);
  return name;
}

/** A new ID of a meeting, as clients know them: twelve digits. */
export const newMeetingId = ({ randomBytes }: Pick<Outside, 'randomBytes'>): string =>
  `zulip-${Array.from(randomBytes(12), (byte) => byte % 10).join('')}`;

/** The signature of a text, by a key that serves for nothing else. */
const signatureOf = (secret: string, text: string): Buffer =>
  createHmac('sha256', `link to a meeting ${secret}`).update(text).digest();

/**
 * The path of a page that lets people of the organization join. Without a server it leads to a page that says so, and its
 * signature is made with a key that nobody keeps.
 */
export function meetingPath(
  { randomBytes }: Pick<Outside, 'randomBytes'>,
  server: BigBlueButton | undefined,
  realm: string,
  meeting: Meeting,
): string {
  const signed: Signed = { realm, ...meeting };
  const text = Buffer.from(JSON.stringify(signed)).toString('base64url');
  const secret = server?.secret ?? Buffer.from(randomBytes(32)).toString('hex');
  return `/calls/bigbluebutton/join?bigbluebutton=${text}.${signatureOf(secret, text).toString('base64url')}`;
}

/**
 * The meeting of a link.
 *
 * @throws Refusal `BAD_REQUEST` if there is no server, or if the link was not made here for this organization
 */
export function accessMeeting(
  server: BigBlueButton | undefined,
  realm: string,
  link: string,
): { readonly server: BigBlueButton; readonly meeting: Meeting } {
  if (server === undefined) throw badRequest('Video calls by BigBlueButton are not set up on this server.');
  const [text = '', signature = ''] = link.split('.');
  const shown = Buffer.from(signature, 'base64url');
  const signed: Signed | undefined = isSameSecret(shown, signatureOf(server.secret, text))
    ? JSON.parse(Buffer.from(text, 'base64url').toString())
    : undefined;
  if (signed?.realm !== realm) throw badRequest('This link does not lead to a meeting.');
  return { server, meeting: signed };
}

/** The address of a call to the server, with the checksum that proves that we make it. */
function addressOf({ url, secret }: BigBlueButton, call: string, parameters: Record<string, string>): URL {
  const address = below(url, `/api/${call}`);
  const query = new URLSearchParams(parameters).toString();
  const checksum = digestOf(`${call}${query}${secret}`);
  address.search = `${query}&checksum=${checksum}`;
  return address;
}

/**
 * Creates a meeting at the server, or finds it there, and returns the address at which this person joins it.
 *
 * @throws Refusal `BAD_REQUEST` if the server does not answer properly
 */
export async function joinMeeting(
  server: BigBlueButton,
  { id, name, isVoiceOnly, moderatorId }: Meeting,
  person: { readonly userId: number; readonly fullName: string },
): Promise<URL> {
  const created = await askServer(
    server,
    addressOf(server, 'create', {
      meetingID: id,
      name,
      lockSettingsDisableCam: String(isVoiceOnly),
    }),
  );
  const createTime = /<createTime>(\d+)<\/createTime>/.exec(created)?.[1];
  if (!/<returncode>SUCCESS<\/returncode>/.test(created) || createTime === undefined) throw noProperAnswer();
  return addressOf(server, 'join', {
    meetingID: id,
    role: person.userId === moderatorId ? 'MODERATOR' : 'VIEWER',
    fullName: person.fullName,
    // A link to a meeting that ended must not lead into a later one with the same ID.
    createTime,
  });
}

const noProperAnswer = () => badRequest('BigBlueButton did not answer properly. Please try again later.');

async function askServer({ url }: BigBlueButton, address: URL): Promise<string> {
  try {
    const answer = await outgoing({ addresses: [url], timeout: TIMEOUT_MS })(address);
    return await answer.text();
  } catch (error) {
    if (error instanceof Unreachable) throw noProperAnswer();
    throw error;
  }
}
