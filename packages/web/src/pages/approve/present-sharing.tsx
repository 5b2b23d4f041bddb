import type { ReactNode } from 'react';
import type { Grant, PendingApproval } from '../../api/resources.ts';
import { Notice } from '../../ui/notice.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatDate, formatDay } from '../../ui/time.tsx';

/** The existing sharing with the app, and how the choices on this screen change it. */
export function PresentSharing({
  approval,
  grant,
  chosen,
  end,
  dataFrom,
}: {
  readonly approval: PendingApproval;
  readonly grant: Grant;
  readonly chosen: ReadonlySet<string>;
  /** The new end in Unix milliseconds; null to keep the current one. */
  readonly end: number | null;
  /** YYYY-MM-DD; empty for no limit. */
  readonly dataFrom: string;
}) {
  const asked = new Set(approval.requestedScopes.map(({ scope }) => scope));
  const stopped = grant.scopes.filter((scope) => asked.has(scope) && !chosen.has(scope));
  const added = [...chosen].filter((scope) => !grant.scopes.includes(scope));
  const others = grant.scopes.filter((scope) => !asked.has(scope));
  const presentEnd = formatDay(grant.expiresAt);
  const changes: ReactNode[] = [
    added.length === 0 ? null : `${toText(added)} will be shared as well.`,
    stopped.length === 0 ? null : `${toText(stopped)} will stop.`,
    end === null ? null : `All of it ends on ${formatDay(end)} instead of ${presentEnd}.`,
    dataFrom === (grant.dataFrom ?? '')
      ? null
      : `All of it: ${datesText(dataFrom)} instead of ${datesText(grant.dataFrom ?? '')}.`,
    others.length === 0 ? null : (
      <>
        Not asked for this time, so it goes on: {toText(others)}. You can take it away on{' '}
        <a href={`/apps/${grant.id}`} target="_blank" rel="noopener">
          the page of this connection
        </a>
        .
      </>
    ),
  ];
  return (
    <Notice>
      <strong>
        {approval.app.name} can already read: {toText(grant.scopes)}.
      </strong>
      {grant.app.name === approval.app.name ? null : (
        <span>It was called “{grant.app.name}” when you agreed to that.</span>
      )}
      <span>
        Until {presentEnd}, {datesText(grant.dataFrom ?? '')}. If you share:
      </span>
      <ul aria-live="polite">
        {changes.every((change) => change === null) ? <li>All of it goes on as it is.</li> : null}
        {changes.map((change, index) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: each kind of change has its place.
          change === null ? null : <li key={index}>{change}</li>,
        )}
      </ul>
    </Notice>
  );
}

function toText(scopes: readonly string[]): string {
  return scopes.map(scopeTitle).join(', ');
}

function datesText(firstDay: string): string {
  return firstDay === '' ? 'data of all dates' : `data from ${formatDate(firstDay)} on`;
}
