import { type ReactNode, useId } from 'react';
import type { WaitingApprovals } from '../../api/approvals.ts';
import type { Grant, PendingApproval } from '../../api/resources.ts';
import { appTitle, findDomain } from '../../ui/app-title.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Monogram, Soft, Stack } from '../../ui/card.tsx';
import { Folded } from '../../ui/folded.tsx';
import { formatList } from '../../ui/formats.ts';
import { Resource } from '../../ui/resource.tsx';
import { Chevron, RowLink, Rows, RowWords } from '../../ui/rows.tsx';
import { SENSITIVE_SCOPES, scopeTitle } from '../../ui/scopes.ts';
import { formatClock, formatDay, formatLastDay } from '../../ui/time.tsx';
import { changesText } from './app-changes.tsx';
import { lastReadText, unusedText } from './grant-hints.ts';
import { findDaysLeft, isUnused } from './grant-rules.ts';
import { text } from './texts.ts';

/** With more scopes, a row counts them. */
const NAMED_SCOPES = 3;

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Stack tight>
        <h2>{title}</h2>
        {children}
      </Stack>
    </section>
  );
}

/** The open requests, the latest one of each app, each with the way to its decision. */
export function WaitingApps({ waiting }: { readonly waiting: WaitingApprovals }) {
  if (waiting.data?.data.length === 0) return null;
  return (
    <Section title={text('waitingTitle')}>
      <Resource query={waiting}>
        {({ data }) => (
          <Rows isMarked>
            {[...Map.groupBy(data, ({ app }) => app.clientId).values()].map(([first]) => (
              <WaitingApp key={first?.id} approval={first as PendingApproval} />
            ))}
          </Rows>
        )}
      </Resource>
    </Section>
  );
}

function WaitingApp({ approval }: { readonly approval: PendingApproval }) {
  const { id, app, requestedScopes, expiresAt } = approval;
  const title = appTitle(app);
  return (
    <li>
      <RowWords>
        <h3>{title}</h3> <small>{app.redirectHost}</small>
        <Soft>
          {text('asks', {
            count: requestedScopes.length,
            personal: requestedScopes.filter(({ sensitive }) => sensitive).length,
            time: formatClock(expiresAt),
          })}
        </Soft>
      </RowWords>
      <ButtonLink to={`/approve/${id}`} label={text('reviewApp', { app: title })}>
        {text('review')}
      </ButtonLink>
    </li>
  );
}

/** Connections, each with what it can read or why it needs a look. Names are told apart from those of `all`. */
export function AppRows({
  title,
  grants,
  all,
  isMarked = false,
}: {
  readonly title: string;
  readonly grants: readonly Grant[];
  readonly all: readonly Grant[];
  readonly isMarked?: boolean;
}) {
  if (grants.length === 0) return null;
  return (
    <Section title={title}>
      <Rows isMarked={isMarked}>
        {grants.map((grant) => (
          <AppRow key={grant.id} grant={grant} all={all} about={activeText(grant, isMarked)} />
        ))}
      </Rows>
    </Section>
  );
}

function AppRow({
  grant: { id, app },
  all,
  about,
}: {
  readonly grant: Grant;
  readonly all: readonly Grant[];
  readonly about: string;
}) {
  const domain = useId();
  return (
    <li>
      <Monogram name={app.name} />
      <RowWords>
        <h3>
          <RowLink to={`/apps/${id}`} describedBy={domain}>
            {appTitle(app)}
          </RowLink>
        </h3>{' '}
        <small id={domain}>
          {findDomain(
            app,
            all.map((other) => other.app),
          )}
        </small>
        <Soft>{about}</Soft>
      </RowWords>
      <Chevron />
    </li>
  );
}

/** What a connection that has not ended shares, or why it needs a look. */
function activeText(grant: Grant, isMarked: boolean): string {
  const about = isMarked ? noteOf(grant) : sharingOf(grant);
  return grant.app.suspended === true ? `${text('suspended')} · ${about}` : about;
}

/** Why a connection needs a look: everything that has changed, ends soon or is not used. */
function noteOf(grant: Grant): string {
  const now = Date.now();
  const daysLeft = findDaysLeft(grant, now);
  const parts = [
    grant.appChanges === undefined ? null : changesText(grant.appChanges),
    daysLeft === null ? null : text('endsIn', { days: daysLeft }),
    isUnused(grant, now) ? unusedText(grant) : lastReadText(grant),
  ];
  return parts.filter((part) => part !== null).join(' · ');
}

function sharingOf(grant: Grant): string {
  const day = formatLastDay(grant.expiresAt);
  return `${text('typesUntil', { types: typesText(grant.scopes), day })} · ${lastReadText(grant)}`;
}

/** The names of a few types of data, the number of many. */
function typesText(scopes: readonly string[]): string {
  if (scopes.length <= NAMED_SCOPES) return formatList(scopes.map(scopeTitle));
  const personal = scopes.filter((scope) => SENSITIVE_SCOPES.has(scope)).length;
  return text('manyTypes', { personal, others: scopes.length - personal });
}

/** Connections that have ended, folded, each with its days. */
export function EndedApps({ grants }: { readonly grants: readonly Grant[] }) {
  if (grants.length === 0) return null;
  return (
    <Folded title={<h2>{text('ended', { count: grants.length })}</h2>}>
      {() => (
        <Rows>
          {grants.map((grant) => (
            <AppRow key={grant.id} grant={grant} all={grants} about={endOf(grant)} />
          ))}
        </Rows>
      )}
    </Folded>
  );
}

function endOf({ status, grantedAt, revokedAt, expiresAt }: Grant): string {
  const from = formatDay(grantedAt);
  const to = revokedAt === null ? formatLastDay(expiresAt) : formatDay(revokedAt);
  const how = text(status === 'expired' ? 'expired' : 'stopped');
  return `${how} · ${from === to ? to : text('period', { from, to })}`;
}
