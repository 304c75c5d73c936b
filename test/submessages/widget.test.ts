import { describe, expect, it } from 'vitest';
import { widgetIn } from '../../shared/domain/send/send.ts';

const parsed = (content: string) => JSON.parse(widgetIn(content) ?? 'null');

describe('a message that begins with a command', () => {
  it.each([
    ['/poll', '', []],
    ['/poll  Noon? ', 'Noon?', []],
    ['/poll\nYes\nNo', '', ['Yes', 'No']],
    ['/poll Noon?\n- Yes\r\n *No\n\n-\n2 - 1', 'Noon?', ['Yes', 'No', '2 - 1']],
  ])('%j is a poll', (content, question, options) => {
    expect(parsed(content)).toEqual({ widget_type: 'poll', extra_data: { question, options } });
  });

  it('may be a to-do list, of tasks and descriptions', () => {
    expect(parsed('/todo Party\n- cake: with cream: a lot\n* music')).toEqual({
      widget_type: 'todo',
      extra_data: {
        task_list_title: 'Party',
        tasks: [
          { task: 'cake', desc: 'with cream: a lot' },
          { task: 'music', desc: '' },
        ],
      },
    });
  });

  it.each([' /poll a', '/polls a', '/Poll a', 'a /poll', '/poll: a', '/me polls', ''])(
    '%j is not a command',
    (content) => {
      expect(widgetIn(content)).toBeUndefined();
    },
  );

  it('stays plain text if its data is too large', () => {
    expect(widgetIn(`/todo\n${'a\n'.repeat(500)}`)).toBeDefined();
    expect(widgetIn(`/todo\n${'a\n'.repeat(4_000)}`)).toBeUndefined();
  });
});
