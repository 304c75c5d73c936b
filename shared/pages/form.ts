import { type Content, type Html, html } from './html.ts';
import type { Site } from './layout.ts';

/** The name of the field with the form token. */
export const FORM_TOKEN = 'form_token';

/** A form that sends its fields to a path of this service. It carries the token without which no form is taken. */
export const form = ({ root, formToken }: Site, action: string, content: Content): Html =>
  html`<form method="post" action="${root}${action}" novalidate>
<input type="hidden" name="${FORM_TOKEN}" value="${formToken}">
${content}
</form>`;

/** A value that goes with a form and is not shown. */
export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`;

/** What is wrong with a form that was sent, and with which of its fields, if it is one. */
export interface FieldProblem {
  readonly field: string | undefined;
  readonly text: string;
}

/** A field for one line of text. */
export interface Field {
  /** Also the id of the element, so unique in the page. */
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password';
  /** What the browser may fill in, in the words of HTML's `autocomplete`. */
  readonly autocomplete: string;
  readonly value?: string | undefined;
  readonly hint?: string | undefined;
  /** What is wrong with the value that was sent. */
  readonly error?: string | undefined;
  /** The id of an alert about this field and others. */
  readonly alert?: string | undefined;
  /** Whether it must be filled in. It must, unless this is false. */
  readonly isRequired?: boolean;
  readonly hasFocus?: boolean;
}

/** A labelled field, with what is wrong with it beside it, for eyes and screen readers. */
export function field({ name, label, type = 'text', autocomplete, value, ...rest }: Field): Html {
  const { hint, error, alert, isRequired = true, hasFocus = false } = rest;
  const described = [hint && `${name}-hint`, error && `${name}-error`, alert].filter(Boolean).join(' ');
  return html`<div>
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"${[
    isRequired && html` required`,
    value !== undefined && html` value="${value}"`,
    described !== '' && html` aria-describedby="${described}"`,
    (error ?? alert) !== undefined && html` aria-invalid="true"`,
    hasFocus && html` autofocus`,
  ]}>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${error !== undefined && html`<p class="error" id="${name}-error">${error}</p>`}
</div>`;
}

/** The button that sends a form. `about` is read by screen readers where several buttons have the same text. */
export const button = (text: string, kind: 'main' | 'quiet' | 'danger' = 'main', about?: string): Html =>
  html`<button class="${kind}"${about !== undefined && html` aria-label="${about}"`}>${text}</button>`;

/** Says that something has been done. */
export const notice = (text: Content): Html => html`<p class="notice" role="status">${text}</p>`;

/** Says that something could not be done. Fields that it is about name its id. */
export const alert = (id: string, text: Content): Html =>
  html`<p class="alert" role="alert" id="${id}">${text}</p>`;
