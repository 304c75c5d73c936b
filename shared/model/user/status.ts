import type { Table } from '../../table/table.ts';

/** What a user says of themselves, under the names of the wire; what they do not say is absent. */
export interface StatusFields {
  readonly status_text?: string;
  readonly emoji_name?: string;
  readonly emoji_code?: string;
  readonly reaction_type?: string;
}

/** The same as stored. One that was cleared stays for a while, so that no late writer brings it back. */
export interface UserStatus extends StatusFields {
  readonly userId: number;
  /** The number under which it was changed last. */
  readonly changed: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    userStatus: UserStatus;
  }
}

/** The fields, in the order in which they are told. */
export const statusFields = ['status_text', 'emoji_name', 'emoji_code', 'reaction_type'] as const;

/** What is told of a status: only what is said. A deactivated emoji is still said. */
export function statusObject(status: StatusFields = {}): StatusFields {
  const said = statusFields.filter((name) => status[name] && (status.emoji_name || name === 'status_text'));
  return Object.fromEntries(said.map((name) => [name, status[name]]));
}

/** Reads what somebody says of themselves. */
export const loadStatus = (table: Table, realm: string, userId: number): Promise<UserStatus | undefined> =>
  table.get('userStatus', { realm, userId });

/** Reads what everybody says of themselves. One round trip; it costs what those cost who say something. */
export async function loadStatuses(table: Table, realm: string): Promise<UserStatus[]> {
  const statuses = await table.all('userStatus', { realm });
  return statuses.filter((status) => Object.keys(statusObject(status)).length > 0);
}
