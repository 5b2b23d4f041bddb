import type { Connection, PendingApproval } from '../../api/resources.ts';
import { formatList } from '../../ui/formats.ts';
import { Notice } from '../../ui/notice.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatDate, formatDay } from '../../ui/time.tsx';
import style from './approval-form.module.css';
import { text } from './texts.ts';

/** Tells what has changed in the sharing with the app since the page was opened, for example in another window. */
export function ChangedMeanwhile({
  seen,
  approval,
}: {
  /** The request as it was when the page was opened. */
  readonly seen: PendingApproval;
  readonly approval: PendingApproval;
}) {
  return (
    <div role="status" className={style['message']}>
      {seen.revision === approval.revision ? null : (
        <Notice tone="warn">
          <strong>{text('changedMeanwhile', { app: approval.app.name })}</strong>
          <span>{text('before', { terms: describe(seen.connection) })}</span>
          <span>{text('now', { terms: describe(approval.connection) })}</span>
          <span>{text('checkAgain')}</span>
        </Notice>
      )}
    </div>
  );
}

function describe(connection: Connection | null): string {
  if (connection === null) return text('nothingShared');
  const { scopes, expiresAt, dataFrom } = connection;
  const values = { items: formatList(scopes.map(scopeTitle)), until: formatDay(expiresAt) };
  return dataFrom === null
    ? text('termsEverything', values)
    : text('termsFrom', { ...values, day: formatDate(dataFrom) });
}
