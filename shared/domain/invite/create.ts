import { badRequest, type InvitationError, refusal } from '../../kernel/errors.ts';
import type { Outside } from '../../kernel/outside.ts';
import { uniqueSorted } from '../../lists.ts';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventFor } from '../../log/slot.ts';
import { isAdministrator, roles } from '../../model/permission/permission.ts';
import { addressProblem, type Domains } from '../../model/realm/domains.ts';
import { doCountMembership } from '../../model/user/activation.ts';
import type { Caller } from '../../model/user/caller.ts';
import {
  type Grant,
  type Invitation,
  invitationKey,
  inviteIdAt,
  type MailInvitation,
  type MultiuseInvitation,
} from '../../model/user/invitation.ts';
import { doMakeLink, linkAddress, newToken } from '../../model/user/link.ts';
import type { User } from '../../model/user/user.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doLeaveMail } from '../mail-out/letter.ts';
import { doRemindLater } from '../scheduled/invitation.ts';
import type { InvitedAddresses } from './address.ts';

/** Parameters of an invitation, for one person or many (companion facts 3.8). */
export interface InviteInput {
  readonly stream_ids?: readonly number[] | undefined;
  readonly group_ids?: readonly number[] | undefined;
  readonly invite_as?: number | undefined;
  readonly include_realm_default_subscriptions?: boolean | undefined;
  readonly invite_expires_in_minutes?: number | null | undefined;
  readonly welcome_message_custom_text?: string | undefined;
}

/** Minutes until an invitation expires, unless the inviter chooses: ten days. */
const USUAL_MINUTES = 14_400;

/** Most channels and groups of an invitation: one transaction gives all of them to a new person. */
const MAX_CHANNELS = 100;
const MAX_GROUPS = 10;

/** What the parameters of an invitation ask for. `minutes` is undefined if it does not expire. */
export interface InviteRequest {
  readonly grant: Grant;
  readonly minutes: number | undefined;
}

/** Checks the parameters that can be judged by themselves. */
export function parseInvite(input: InviteInput): InviteRequest {
  const role = Object.values(roles).find((known) => known === (input.invite_as ?? roles.member));
  if (role === undefined) throw badRequest(`'invite_as' must be one of ${Object.values(roles).join(', ')}.`);
  const channelIds = uniqueSorted(input.stream_ids ?? []);
  const groupIds = uniqueSorted(input.group_ids ?? []);
  if (channelIds.length > MAX_CHANNELS) {
    throw badRequest(`An invitation is to at most ${MAX_CHANNELS} channels.`);
  }
  if (groupIds.length > MAX_GROUPS) {
    throw badRequest(`An invitation is to at most ${MAX_GROUPS} user groups.`);
  }
  const { invite_expires_in_minutes: minutes = USUAL_MINUTES, welcome_message_custom_text: welcome } = input;
  return {
    grant: {
      role,
      channelIds,
      withDefaults: input.include_realm_default_subscriptions ?? false,
      groupIds,
      ...(welcome && { welcome }),
    },
    minutes: minutes ?? undefined,
  };
}

/**
 * Checks the addresses of a request. `accounts` are the users who have some of them already. Returns those to invite,
 * and what is wrong with the others.
 *
 * @throws Refusal `INVITATION_FAILED` if an address is not valid or not allowed, or if all have accounts
 */
export function checkAddresses(
  { realm }: Pick<Caller, 'realm'>,
  { valid, invalid }: InvitedAddresses,
  accounts: ReadonlyMap<string, Pick<User, 'isActive'>>,
  domains: Domains,
): { readonly addresses: readonly string[]; readonly taken: readonly InvitationError[] } {
  const errors: InvitationError[] = [
    ...invalid.map((given): InvitationError => [given, 'This is not an email address.', false]),
    ...valid.flatMap((address): InvitationError[] => {
      const reason = addressProblem(address, realm, domains);
      return reason === undefined ? [] : [[address, reason, false]];
    }),
  ];
  if (errors.length > 0) throw refusal('invitationFailed', { errors, sent: false });
  const taken = valid.flatMap((address): InvitationError[] => {
    const account = accounts.get(address);
    if (account === undefined) return [];
    return account.isActive
      ? [[address, 'This address already has an account.', false]]
      : [[address, 'The account with this address is deactivated.', true]];
  });
  if (taken.length === valid.length) throw refusal('invitationFailed', { errors: taken, sent: false });
  return { addresses: valid.filter((address) => !accounts.has(address)), taken };
}

/** The event that the invitations have changed: for administrators, and for the inviter. Clients fetch them again. */
export const invitesChanged = (inviterId: number, isAdministrator: boolean): EventEntry[] => [
  eventFor({ everyone: 'administrators' }, { type: 'invites_changed' }),
  ...(isAdministrator ? [] : [eventFor({ users: [inviterId] }, { type: 'invites_changed' })]),
];

const eventsFor = ({ user, standing }: Pick<Caller, 'user' | 'standing'>): EventEntry[] =>
  invitesChanged(user.userId, isAdministrator(standing));

/** The fields that the invitations of a request have in common. */
const common = (
  { user }: Pick<Caller, 'user'>,
  { grant, minutes }: InviteRequest,
  now: number,
): Omit<MultiuseInvitation, 'inviteId' | 'token'> => {
  const invited = Math.floor(now / 1_000);
  return {
    ...grant,
    invitedBy: user.userId,
    invited,
    ...(minutes !== undefined && { expires: invited + 60 * minutes }),
  };
};

const store = (realm: string, invitation: Invitation): Write => ({
  put: invitationKey(realm, invitation.inviteId),
  item: { ...invitation },
  when: { absent: true },
});

/** The link that leads to an invitation, under a token. */
export const doLinkInvitation = (realm: string, { inviteId, expires }: Invitation, token: string): Write =>
  doMakeLink(realm, token, { kind: 'invitation', inviteId, ...(expires !== undefined && { expires }) });

/** How the links of invitations reach people: by a job that sends mail, or through the inviter, who gets the tokens. */
export type Delivery = { readonly job: string } | { readonly tokens: readonly string[] };

/** The events of a change of invitations, at most. */
export const MAX_EVENTS = 2;

/** Invites people, each by an invitation of their own. `now` is in milliseconds. */
export function doInvite(
  caller: Caller,
  request: InviteRequest & { readonly notifiesInviter: boolean },
  addresses: readonly string[],
  delivery: Delivery,
  number: (index: number) => number,
  now: number,
): Change<readonly MailInvitation[]> {
  const { realmId: realm } = caller;
  const shared = { ...common(caller, request, now), notifiesInviter: request.notifiesInviter };
  const invitations = addresses.map((email, i) => ({ ...shared, inviteId: inviteIdAt(number(0), i), email }));
  const letters = invitations.map(({ inviteId }) => ({ what: 'invitation' as const, inviteId }));
  return {
    writes: [
      doCountMembership(realm, caller.user.userId),
      ...invitations.map((invitation) => store(realm, invitation)),
      ...('job' in delivery
        ? [...doLeaveMail(realm, delivery.job, letters, now), ...doRemindLater(realm, number(0), shared)]
        : invitations.map((invitation, i) => doLinkInvitation(realm, invitation, delivery.tokens[i] ?? ''))),
    ],
    entries: eventsFor(caller),
    result: invitations,
  };
}

/** Makes a link that anybody may use. `now` is in milliseconds. */
export function doMakeMultiuse(
  caller: Caller,
  request: InviteRequest,
  token: string,
  number: (index: number) => number,
  now: number,
): Change<MultiuseInvitation> {
  const invitation = { ...common(caller, request, now), inviteId: inviteIdAt(number(0), 0), token };
  return {
    writes: [
      doCountMembership(caller.realmId, caller.user.userId),
      store(caller.realmId, invitation),
      doLinkInvitation(caller.realmId, invitation, token),
    ],
    entries: eventsFor(caller),
    result: invitation,
  };
}

/** A token for each of so many links. */
export const newTokens = (outside: Pick<Outside, 'randomBytes'>, count: number): string[] =>
  Array.from({ length: count }, () => newToken(outside));

/** The users who have some of these addresses, by address. One round trip. */
export async function loadAccounts(
  { table }: Pick<Outside, 'table'>,
  realm: string,
  addresses: readonly string[],
  accountOf: (address: string) => { readonly userId: number } | undefined,
): Promise<ReadonlyMap<string, User>> {
  const known = addresses.flatMap((address) => {
    const account = accountOf(address);
    return account === undefined ? [] : [[address, account.userId] as const];
  });
  const users = await table.getMany(known.map(([, userId]) => key('user', { realm, userId })));
  const byId = new Map(users.map((user) => [user.userId, user]));
  return new Map(
    known.flatMap(([address, userId]) => {
      const user = byId.get(userId);
      return user === undefined ? [] : [[address, user] as const];
    }),
  );
}

/** The links of invitations that nobody mails, in their order, for who invites to hand on. */
export const inviteLinks = (
  baseUrl: string,
  invitations: readonly { readonly email: string }[],
  tokens: readonly string[],
) =>
  invitations.map(({ email }, i) => ({
    email,
    invite_link: linkAddress(baseUrl, 'invitation', tokens[i] ?? ''),
  }));
