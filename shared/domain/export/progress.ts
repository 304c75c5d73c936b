import type { UploadedPart } from '../../kernel/outside.ts';

/**
 * The parts of an archive, in their order. What others refer to comes after them: people, channels, groups and emoji
 * are never deleted, so whatever a message names is still there when its turn comes, however long that takes.
 */
export const sectionNames = [
  'messages',
  'emoji',
  'channels',
  'subscriptions',
  'channel_folders',
  'user_groups',
  'custom_profile_fields',
  'users',
  'organization',
] as const;

export type SectionName = (typeof sectionNames)[number];

/** Those that have records; the others are files of their own. */
export const recordSections = sectionNames.filter((name) => name !== 'organization');

/** Where a section goes on: from the thing with this number, and what belongs to it from this number. */
export interface From {
  readonly id: number;
  readonly sub: number;
}

export const START: From = { id: 0, sub: 0 };

/** Where an archive goes on; at its `end` only the account of it is missing, and when it is `done`, nothing. */
export interface Place {
  readonly section: SectionName | 'end' | 'done';
  readonly from: From;
  /** The number of the last file of the section. */
  readonly file: number;
}

/** How far an archive is: all that another run needs to go on. */
export interface Progress {
  readonly place: Place;
  /** The last number of the log that is exported. */
  readonly until: number;
  /** The object that says what is exported, decided on when the archive was begun. */
  readonly plan: string;
  /** The id of the upload. */
  readonly upload: string;
  readonly parts: readonly UploadedPart[];
  /** The object that holds what follows these parts and was too small to be one. */
  readonly tail?: string;
  /** Bytes of the archive so far. */
  readonly bytes: number;
  /** Records so far, by section. */
  readonly counts: Readonly<Partial<Record<SectionName, number>>>;
}

/** The place at the beginning of the section after this one. */
export function after(section: SectionName): Place {
  const following = sectionNames[sectionNames.indexOf(section) + 1];
  return { section: following ?? 'end', from: START, file: 0 };
}
