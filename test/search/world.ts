import fc from 'fast-check';
import { expect } from 'vitest';
import { handler as remove } from '../../functions/messages/delete.ts';
import { handler as update } from '../../functions/messages/update.ts';
import { handler as react } from '../../functions/reactions/add.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { handler as setVisibility } from '../../functions/topics/setVisibility.ts';
import { handler as mutePerson } from '../../functions/users/mute.ts';
import { givenChannel } from '../support/given.ts';
import { flagged, sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { indexed } from './search-index.ts';

/** Words that are their own stems, so that the oracle needs no stemmer; they are the names of topics too. */
export const words = ['tea', 'cup', 'spoon', 'milk'] as const;

const LINK = 'https://a.example';

/** Something that happens in an organization. Numbers choose people, channels and messages. */
export type Action =
  | {
      readonly do: 'send';
      readonly who: number;
      readonly where: number;
      readonly text: readonly number[];
      readonly hasLink: boolean;
    }
  | { readonly do: 'edit'; readonly which: number; readonly text: readonly number[] }
  | { readonly do: 'move'; readonly which: number; readonly where: number; readonly topic: number }
  | { readonly do: 'delete'; readonly which: number }
  | {
      readonly do: 'join' | 'leave' | 'muteTopic' | 'mutePerson';
      readonly who: number;
      readonly where: number;
    }
  | { readonly do: 'star' | 'react'; readonly who: number; readonly which: number }
  | { readonly do: 'index' };

const number = fc.nat(50);
const text = fc.array(fc.nat(3), { minLength: 1, maxLength: 3 });
const one = <const A>(...what: A[]) => fc.constantFrom(...what);

export const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({ do: one('send'), who: number, where: number, text, hasLink: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: one('edit'), which: number, text }) },
  { weight: 2, arbitrary: fc.record({ do: one('move'), which: number, where: number, topic: number }) },
  { weight: 1, arbitrary: fc.record({ do: one('delete'), which: number }) },
  { weight: 2, arbitrary: fc.record({ do: one('join', 'leave'), who: number, where: number }) },
  { weight: 1, arbitrary: fc.record({ do: one('muteTopic', 'mutePerson'), who: number, where: number }) },
  { weight: 1, arbitrary: fc.record({ do: one('star', 'react'), who: number, which: number }) },
  { weight: 2, arbitrary: fc.record({ do: one('index') }) },
);

const some = <T>(list: readonly T[], at: number): T => list[at % list.length] as T;

/**
 * An organization with a public channel, a private one, and a private one whose history is protected, and three people:
 * the owner, a member and a guest.
 */
export class World {
  readonly realm: TestRealm;
  readonly people: readonly Person[];
  readonly #channels: readonly { readonly channelId: number; readonly name: string }[];
  readonly ids: number[] = [];

  private constructor(
    realm: TestRealm,
    channels: readonly { readonly channelId: number; readonly name: string }[],
  ) {
    this.realm = realm;
    const { owner, member, guest } = realm.people;
    this.people = [owner, member, guest];
    this.#channels = channels;
  }

  static async make(): Promise<World> {
    const realm = await newRealm();
    const { owner, member, guest } = realm.people;
    const open = await givenChannel(realm, { historyPublicToSubscribers: true }, [owner, member]);
    const secret = await givenChannel(realm, { isPrivate: true, historyPublicToSubscribers: true }, [owner]);
    const protectedHistory = { isPrivate: true, historyPublicToSubscribers: false };
    return new World(realm, [open, secret, await givenChannel(realm, protectedHistory, [owner, guest])]);
  }

  person = (at: number): Person => some(this.people, at);
  channel = (at: number): number => some(this.#channels, at).channelId;
  /** The id of a message, or one that no message has. */
  message = (at: number): number => (this.ids.length === 0 ? 1 : some(this.ids, at));

  /** Does something, if it is allowed: what is refused changes nothing. */
  async act(step: Action): Promise<void> {
    const { realm } = this;
    const { owner } = realm.people;
    switch (step.do) {
      case 'index':
        expect(await indexed(realm)).toBe(true);
        return;
      case 'send': {
        const isDirect = step.where % 4 === 3;
        const place = isDirect
          ? { people: [this.person(step.who + 1)] }
          : { to: this.channel(step.where), topic: some(words, step.who) };
        const content = [...textOf(step.text), ...(step.hasLink ? [LINK] : [])].join(' ');
        const id = await sent(realm, this.person(step.who), place, content).catch(() => undefined);
        if (id !== undefined) this.ids.push(id);
        return;
      }
      case 'join':
      case 'leave': {
        const { name } = some(this.#channels, step.where);
        const principals = [this.person(step.who).userId];
        const isJoin = step.do === 'join';
        const subscriptions = isJoin ? [{ name }] : [name];
        await realm.call(isJoin ? subscribe : unsubscribe, owner, { subscriptions, principals });
        return;
      }
      case 'muteTopic': {
        const at = { stream_id: this.channel(step.where), topic: some(words, step.who) };
        await realm.call(setVisibility, this.person(step.who), { ...at, visibility_policy: 1 });
        return;
      }
      case 'mutePerson': {
        const path = { muted_user_id: this.person(step.where).userId };
        await realm.call(mutePerson, this.person(step.who), {}, { path });
        return;
      }
      case 'star':
        await flagged(realm, this.person(step.who), 'add', 'starred', [this.message(step.which)]);
        return;
      case 'react': {
        const path = { message_id: this.message(step.which) };
        await realm.call(react, this.person(step.who), { emoji_name: 'tada' }, { path });
        return;
      }
      default:
        return this.#change(step);
    }
  }

  async #change(step: Extract<Action, { readonly do: 'edit' | 'move' | 'delete' }>): Promise<void> {
    const { realm, people } = this;
    const { owner } = realm.people;
    const path = { message_id: this.message(step.which) };
    if (step.do === 'delete') await realm.call(remove, owner, {}, { path });
    else if (step.do === 'move') {
      const to = { stream_id: this.channel(step.where), topic: some(words, step.topic) };
      await realm.call(update, owner, to, { path });
    } else {
      const content = textOf(step.text).join(' ');
      for (const who of people) await realm.call(update, who, { content }, { path });
    }
  }
}

const textOf = (text: readonly number[]): string[] => text.map((word) => some(words, word));
