import { accessLinkedInvitation, deadInvitation } from '../domain/account/join.ts';
import type { Outside } from '../kernel/outside.ts';
import { signInProviders } from '../model/realm/sign-in-methods.ts';
import { isMultiuse } from '../model/user/invitation.ts';
import { alert, button, type FieldProblem, field, form } from './form.ts';
import { html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { PASSWORD_HINT } from './password.ts';
import { providerButtons, type SignInProvider } from './sign-in.ts';

/** An invitation as the invited person sees it. */
interface ShownInvitation {
  readonly organization: string;
  readonly inviter: string;
  readonly token: string;
  /** The address that it is for; undefined if anybody may use it. */
  readonly invitedEmail: string | undefined;
  readonly providers: readonly SignInProvider[];
}

/** A form that was sent and refused. */
interface RefusedForm {
  /** What was typed in. */
  readonly typed?: { readonly fullName: string; readonly email: string | undefined };
  readonly problem?: FieldProblem;
}

/**
 * Loads what the page of an invitation shows. Four round trips.
 *
 * @throws Refusal as `accessLinkedInvitation`, and `BAD_REQUEST` if the inviter is deactivated
 */
export async function accessShownInvitation(
  outside: Outside,
  host: string,
  token: string,
): Promise<ShownInvitation> {
  const { realm, organization, invitation } = await accessLinkedInvitation(outside, host, token);
  const inviter = await outside.table.get('user', { realm, userId: invitation.invitedBy });
  if (!inviter?.isActive) throw deadInvitation();
  return {
    organization: organization.name,
    inviter: inviter.fullName,
    token,
    invitedEmail: isMultiuse(invitation) ? undefined : invitation.email,
    providers: signInProviders(outside.environment),
  };
}

/** The page of an invitation, with the ways to join. */
export function invitationPage(
  site: Site,
  { organization, inviter, token, invitedEmail, providers }: ShownInvitation,
  { typed, problem }: RefusedForm = {},
): Page {
  const path = encodeURIComponent(token);
  return {
    title: `Join ${organization}`,
    above: organization,
    content: [
      html`<p><strong>${inviter}</strong> invites you to the team chat of ${organization}.</p>`,
      providerButtons(site, 'Join', providers, `?invitation=${path}`),
      problem !== undefined && problem.field === undefined && alert('problem', problem.text),
      form(site, `/invite/${path}`, [...personFields(invitedEmail, typed, problem), button('Join')]),
      html`<p class="after">You have an account already? <a href="${site.root}/login/">Sign in</a></p>`,
    ],
  };
}

function personFields(
  invitedEmail: string | undefined,
  typed: RefusedForm['typed'],
  problem: FieldProblem | undefined,
) {
  const said = (name: string) => ({
    ...(problem?.field === name && { error: problem.text }),
    ...(problem !== undefined && problem.field === undefined && { alert: 'problem' }),
    hasFocus: (problem?.field ?? 'full_name') === name,
  });
  return [
    invitedEmail !== undefined &&
      html`<div><label for="username">Email address</label>
<input id="username" name="username" type="email" value="${invitedEmail}" autocomplete="username" readonly></div>`,
    field({
      name: 'full_name',
      label: 'Your name',
      autocomplete: 'name',
      value: typed?.fullName,
      ...said('full_name'),
    }),
    invitedEmail === undefined &&
      field({
        name: 'email',
        label: 'Email address',
        type: 'email',
        autocomplete: 'username',
        value: typed?.email,
        ...said('email'),
      }),
    field({
      name: 'password',
      label: 'Password',
      type: 'password',
      autocomplete: 'new-password',
      hint: PASSWORD_HINT,
      ...said('password'),
    }),
  ];
}
