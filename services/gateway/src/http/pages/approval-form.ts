import { GRANT_DAYS_CHOICES, GRANT_DAYS_DEFAULT } from '@phds/catalog/lifetimes';
import { findScope } from '@phds/catalog/scopes';
import type { PendingApproval, RequestedScope } from '@phds/contracts/phds/consent/v1/consent_pb';
import { type Html, html } from './html.ts';

/** The decision that a person makes about an app's request. */
export function renderApprovalForm(pending: PendingApproval, userId: string, problem: string): Html {
  const name = pending.app?.name ?? 'This app';
  const path = `/partner/consent/pending/${encodeURIComponent(pending.id)}`;
  return html`<p><strong>${name}</strong> asks to read some of your health data.</p>
${renderAbout(pending)}
<p class="quiet">You are signed in as ${userId}.</p>
<form method="post" action="${path}/approve" data-decision>
<fieldset><legend>What to share</legend>
${pending.requestedScopes.map(renderScope)}
</fieldset>
<label class="choice">For how long
<select name="expiresInDays">${GRANT_DAYS_CHOICES.map(renderDays)}</select></label>
<label class="choice">Only data from this day on (empty: everything)
<input type="date" name="dataFrom"></label>
<p class="quiet">You can stop sharing at any time.</p>
${renderAlert(problem)}
<div class="buttons">
<button class="primary" type="submit">Share</button>
<button type="submit" formaction="${path}/deny" formnovalidate>Do not share</button>
</div>
</form>`;
}

function renderAlert(problem: string): Html {
  return problem === '' ? html`<p role="alert" hidden></p>` : html`<p role="alert">${problem}</p>`;
}

function renderAbout({ app, purpose, redirectHost, clientAuthenticated }: PendingApproval): Html {
  return html`${purpose === '' ? '' : html`<p>Its reason: “${purpose}”</p>`}
<p class="quiet">The answer goes to ${redirectHost}.${renderLink(app?.homepageUrl, 'About the app')}${renderLink(app?.privacyPolicyUrl, 'Its privacy policy')}</p>
${clientAuthenticated ? '' : html`<p class="warning">The app did not prove who it is when it asked. Go on only if you came here from it yourself.</p>`}`;
}

function renderLink(url: string | undefined, text: string): Html {
  if (url === undefined || !/^https?:\/\//.test(url)) return html``;
  return html` <a href="${url}" rel="noopener noreferrer" target="_blank">${text}</a>.`;
}

function renderScope({ scope, alreadyShared }: RequestedScope): Html {
  const entry = findScope(scope);
  const sensitive = entry?.sensitive ?? true;
  // What is sensitive takes a deliberate tick; what is shared already would end by leaving it out.
  const ticked = alreadyShared || !sensitive ? html` checked` : '';
  return html`<label class="scope"><input type="checkbox" name="scopes" value="${scope}"${ticked}>
<span>${entry?.title ?? scope}${sensitive ? html` <span class="warning">(sensitive)</span>` : ''}${alreadyShared ? html` <span class="quiet">(shared already)</span>` : ''}</span>
<small>${entry?.description ?? ''}</small></label>
`;
}

function renderDays(days: number): Html {
  const selected = days === GRANT_DAYS_DEFAULT ? html` selected` : '';
  return html`<option value="${String(days)}"${selected}>${days === 1 ? '1 day' : `${days} days`}</option>`;
}
