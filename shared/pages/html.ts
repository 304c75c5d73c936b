/** Text that is HTML already. Only `html` makes it, so that no page contains unescaped text. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** What may stand in a page: text, which is escaped, HTML, lists of both, or nothing. */
export type Content = Html | string | number | undefined | false | readonly Content[];

/** Makes HTML from a template. Values are escaped; values of attributes must stand in double quotes. */
export const html = (strings: TemplateStringsArray, ...contents: readonly Content[]): Html =>
  new Html(String.raw({ raw: strings }, ...contents.map(rendered)));

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function rendered(content: Content): string {
  if (content === undefined || content === false) return '';
  if (content instanceof Html) return content.toString();
  if (typeof content === 'object') return content.map(rendered).join('');
  return String(content).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
