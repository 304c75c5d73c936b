/** The longest name of anything that a text can name, in code points: longer text between the marks is just text. */
const LONGEST_NAME = 100;

/** Whether this text can be the name of a person, a group or a channel at all. */
export function isName(text: string): boolean {
  if (text.length > 2 * LONGEST_NAME) return false;
  return text.trim() !== '' && [...text].length <= LONGEST_NAME;
}
