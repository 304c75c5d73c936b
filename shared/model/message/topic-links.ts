/** An address in a topic, as clients show it beside the topic. */
export interface TopicLink {
  readonly text: string;
  readonly url: string;
}

/** What can stand around an address. */
const AROUND = /[\s!;,'"()<>]+/;

/** The web addresses in a topic, in their order (wire facts 14.4). Only those with a scheme: the rest are words. */
export const topicLinks = (topic: string): TopicLink[] =>
  topic
    .split(AROUND)
    .filter((part) => /^https?:\/\/[^/]/i.test(part) && URL.canParse(part))
    .map((url) => ({ text: url, url }));
