/** A larger widget would leave no room in the item of its message; such a message stays plain text. */
const MAX_WIDGET_BYTES = 24_000;

/**
 * The first submessage (JSON text) of a message that begins with `/poll` or `/todo`. The rest of its first line is the
 * question or the title, and each further line an option or a task. Undefined for any other message.
 */
export function widgetIn(content: string): string | undefined {
  const [, command, text = ''] = /^\/(poll|todo)(?!\S)(.*)$/s.exec(content) ?? [];
  if (command === undefined) return undefined;
  const [first = '', ...others] = text.split(/\r\n|\r|\n/);
  const heading = first.trim();
  const entries = others.map(withoutListMark).filter((line) => line !== '');
  const data =
    command === 'poll'
      ? { question: heading, options: entries }
      : { task_list_title: heading, tasks: entries.map(taskIn) };
  const widget = JSON.stringify({ widget_type: command, extra_data: data });
  return Buffer.byteLength(widget) > MAX_WIDGET_BYTES ? undefined : widget;
}

const withoutListMark = (line: string): string => line.trim().replace(/^[-*]\s*/, '');

/** A task and its description, separated by the first colon. */
function taskIn(line: string): { task: string; desc: string } {
  const [task = '', ...rest] = line.split(':');
  return { task: task.trim(), desc: rest.join(':').trim() };
}
