import type { ReactNode } from 'react';
import type { Connection, PendingApproval } from '../../api/resources.ts';
import { formatList } from '../../ui/formats.ts';
import { scopesInSentence, scopeTitle } from '../../ui/scopes.ts';
import { formatDate, formatLastDay } from '../../ui/time.tsx';
import { describeWithdrawal } from '../../ui/withdrawal.ts';
import style from './approval-form.module.css';
import { KEPT, type Terms } from './terms.ts';
import { Rich, text } from './texts.ts';

/** With more types of data, a sentence counts them. */
export const MOST_NAMED = 6;

interface ChangesProps {
  readonly approval: PendingApproval;
  readonly connection: Connection;
  readonly terms: Terms;
}

/** What is shared with the app now, and what an approval with these terms would change. */
export function ConnectionChanges(props: ChangesProps) {
  const { approval, connection, terms } = props;
  const { appName, scopes, expiresAt, dataFrom } = connection;
  const { isSame } = findChanges(connection, terms);
  const now = { items: toList(scopes), until: formatLastDay(expiresAt), range: rangeText(dataFrom) };
  return (
    <div className={style['differences']}>
      {terms.chosen.length === 0 ? null : <Changes {...props} />}
      {isSame && terms.chosen.length > 0 ? null : <p>{text('sharedNow', now)}</p>}
      {appName === approval.app.name ? null : <p>{text('calledBefore', { name: appName })}</p>}
    </div>
  );
}

function Changes({ approval: { app }, connection, terms }: ChangesProps) {
  const { added, stopped, scopes, others, firstDay } = terms;
  const { gone, coarser, goesOn } = describeWithdrawal(app.name, scopes, stopped);
  const { ends, isEndNew, isFirstDayNew, isSame } = findChanges(connection, terms);
  return (
    <ul className={style['changes']}>
      {isSame ? <li>{text('noChange')}</li> : null}
      {added.length === 0 ? null : (
        <li>
          <Rich id="added" values={{ items: toList(added) }} components={{ new: <strong /> }} />
        </li>
      )}
      {gone.length === 0 ? null : (
        <li>
          <Rich id="stopped" values={{ items: toList(gone) }} components={{ new: <strong /> }} />
        </li>
      )}
      {[...coarser, goesOn].map((sentence) =>
        sentence === null ? null : <li key={sentence}>{sentence}</li>,
      )}
      {isEndNew ? <Change id="newEnd" {...ends} /> : null}
      {isFirstDayNew ? (
        <Change id="newFirstDay" from={rangeText(connection.dataFrom)} to={rangeText(firstDay)} />
      ) : null}
      {others.length === 0 ? null : (
        <li>
          {text('others', { app: app.name, items: toList(others) })}{' '}
          {isEndNew || isFirstDayNew ? `${text('othersToo')} ` : null}
          <Rich id="changeOthers" components={{ link: <ConnectionLink id={connection.grantId} /> }} />
        </li>
      )}
    </ul>
  );
}

/** Old beside new. */
function Change({
  id,
  from,
  to,
}: {
  readonly id: 'newEnd' | 'newFirstDay';
  readonly from: string;
  readonly to: string;
}) {
  const arrow = <span role="img" aria-label={text('becomes')} />;
  return (
    <li>
      <Rich id={id} values={{ from, to }} components={{ arrow, new: <strong /> }} />
    </li>
  );
}

function toList(scopes: readonly string[]): string {
  return formatList(scopes.map(scopeTitle));
}

/** The values of a sentence that says what goes on. */
export function goesOnText(app: string, { scopes, expiresAt }: Connection) {
  const items =
    scopes.length > MOST_NAMED ? text('manyTypes', { count: scopes.length }) : scopesInSentence(scopes);
  return { app, items, day: formatLastDay(expiresAt) };
}

/** How far back the app sees. */
function rangeText(firstDay: string | null): string {
  return firstDay === null ? text('rangeEverything') : text('rangeFrom', { day: formatDate(firstDay) });
}

/** Which terms of a connection an approval would change. Another time of the same day is not shown, so it does not count. */
export function findChanges(
  connection: Connection,
  { added, stopped, life, end, firstDay, dayFault }: Terms,
) {
  const ends = { from: formatLastDay(connection.expiresAt), to: formatLastDay(end) };
  const isEndNew = life !== KEPT && ends.from !== ends.to;
  const isFirstDayNew = dayFault === null && firstDay !== connection.dataFrom;
  const isSame = dayFault === null && added.length + stopped.length === 0 && !isEndNew && !isFirstDayNew;
  return { ends, isEndNew, isFirstDayNew, isSame };
}

/** A link to the page of a connection, beside this page, whose choices stay. */
export function ConnectionLink({ id, children }: { readonly id: string; readonly children?: ReactNode }) {
  return (
    <a href={`/apps/${encodeURIComponent(id)}`} target="_blank" rel="noopener">
      {children}
    </a>
  );
}
