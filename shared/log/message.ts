/** A message as it is stored, once for all its readers (wire facts 14.4: how readers get it). */
export interface Message {
  /** The number of its slot in the log: rises with time within an organization. */
  readonly id: number;
  readonly senderId: number;
  /** Seconds since 1970. */
  readonly timestamp: number;
  /** Name of the client program it was sent with. */
  readonly client: string;
  /** The channel, for channel messages. */
  readonly channelId?: number;
  /** The topic as its sender spelled it; absent on direct messages. */
  readonly topic?: string;
  /** The people of a direct message, sender included, in ascending order; absent on channel messages. */
  readonly people?: readonly number[];
  /** Identifies the channel or the direct conversation on the wire. */
  readonly recipientId: number;
  /** Markdown as sent, after normalization, and the HTML made from it. */
  readonly content: string;
  readonly rendered: string;
  readonly isMe: boolean;
  /** It starts as read for its sender. */
  readonly readBySender: boolean;
  readonly mentions?: Mentions;
  /** The uploaded files that it holds, by their path (`pathId`). */
  readonly files?: readonly string[];
  /** The first submessage (JSON text) of a message that was sent as a poll or a to-do list. */
  readonly widget?: string;
  /** Keys of the indexes; the conversation is also the name of the read state, unless the message changed its topic. */
  readonly conversation: string;
  /**
   * The conversation of its channel in which it was first, if it has moved since: its read state stays there, so that
   * nothing becomes unread by a move within a channel.
   */
  readonly readIn?: string;
  readonly channelKey?: string;
  readonly channelSort?: string;
  readonly conversationKey: string;
  readonly conversationSort: string;
  /** The number of its last change, so that the next one can check its snapshot. */
  readonly revision?: number;
  /** What was changed of it, newest first; at most the last hundred changes. */
  readonly history?: readonly Revision[];
  /** Seconds since 1970: when its content was last edited, and when it last went to another place. */
  readonly edited?: number;
  readonly moved?: number;
  /** The queue and the id that the sender's client gave it. */
  readonly echo?: { readonly queueId: string; readonly localId: string };
}

/**
 * What the indexes hold of a message without its text: enough to decide whether somebody may read it, whether it is
 * in a narrow, which flags it has and whether it is unread. A whole message is a head too.
 */
export type MessageHead = Pick<
  Message,
  | 'id'
  | 'senderId'
  | 'conversation'
  | 'channelId'
  | 'topic'
  | 'people'
  | 'readBySender'
  | 'readIn'
  | 'mentions'
>;

/** A text of a message and the HTML made from it. */
export interface MessageText {
  readonly content: string;
  readonly rendered: string;
}

/** A change of a message. */
export interface Revision {
  /** The number of its event. */
  readonly seq: number;
  readonly userId: number;
  /** Seconds since 1970. */
  readonly timestamp: number;
  /** The content changed. */
  readonly content?: true;
  /**
   * What it said before. Only the newest texts are kept with the message, while they are short, and always the one
   * before its last edit; the others are items of their own.
   */
  readonly before?: MessageText;
  /** Where it was before and where it went; only what changed. */
  readonly topic?: { readonly from: string; readonly to: string };
  readonly channel?: {
    readonly from: number;
    readonly to: number;
    /** Who could read the channel that it left; absent for a private one, and where no version kept it. */
    readonly openTo?: 'members' | 'everyone';
  };
}

/** Whom the message addresses. Absent where it addresses nobody. */
export interface Mentions {
  readonly users?: readonly number[];
  readonly groups?: readonly number[];
  readonly channel?: true;
  readonly topic?: true;
}
