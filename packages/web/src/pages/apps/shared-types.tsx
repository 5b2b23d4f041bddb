import type { AccessDay, Grant } from '../../api/resources.ts';
import { text as frameText } from '../../texts/frame.ts';
import { addDays, localDay } from '../../ui/days.ts';
import { Folded } from '../../ui/folded.tsx';
import { Rows, RowWords } from '../../ui/rows.tsx';
import { SENSITIVE_SCOPES, scopeTitle } from '../../ui/scopes.ts';
import { formatDate } from '../../ui/time.tsx';
import { PreviewSheet } from '../approve/preview-sheet.tsx';
import style from './apps.module.css';
import { text } from './texts.ts';

/** How far back the reads of a connection are looked through. */
export const SHOWN_DAYS = 90;
/** A group with more types than this shows this many, and folds the others. */
const SHOWN_TYPES = 4;

/** The days that the page of a connection tells the reads of. */
export function toDaysOf({ id }: Grant) {
  const to = localDay(Date.now());
  return { grantId: id, from: addDays(to, 1 - SHOWN_DAYS), to };
}

/** The types of data of a connection in two groups, each type with its last read; `days` are null until they are known. */
export function SharedTypes({
  grant,
  days,
}: {
  readonly grant: Grant;
  readonly days: readonly AccessDay[] | null;
}) {
  const personal = grant.scopes.filter((scope) => SENSITIVE_SCOPES.has(scope));
  const others = grant.scopes.filter((scope) => !SENSITIVE_SCOPES.has(scope));
  const groups = [
    { title: frameText('veryPersonal'), isMarked: true, scopes: personal },
    { title: frameText(personal.length === 0 ? 'types' : 'otherTypes'), isMarked: false, scopes: others },
  ];
  return groups.map(({ title, isMarked, scopes }) => {
    if (scopes.length === 0) return null;
    const shown = scopes.length > SHOWN_TYPES + 1 ? SHOWN_TYPES : scopes.length;
    const row = (scope: string) => <TypeRow key={scope} grant={grant} scope={scope} days={days} />;
    return (
      <section key={title} aria-label={title}>
        <h2 className={isMarked ? `${style['group']} ${style['personal']}` : style['group']}>{title}</h2>
        <Rows>
          {scopes.slice(0, shown).map(row)}
          {shown === scopes.length ? null : (
            <li>
              <RowWords>
                <Folded title={text('moreTypes', { count: scopes.length - shown })}>
                  {() => <Rows>{scopes.slice(shown).map(row)}</Rows>}
                </Folded>
              </RowWords>
            </li>
          )}
        </Rows>
      </section>
    );
  });
}

function TypeRow({
  grant,
  scope,
  days,
}: {
  readonly grant: Grant;
  readonly scope: string;
  readonly days: readonly AccessDay[] | null;
}) {
  return (
    <li className={style['line']}>
      <RowWords>{scopeTitle(scope)}</RowWords>
      <span className={style['soft']}>{days === null ? null : lastReadOf(grant, scope, days)}</span>
    </li>
  );
}

/** The person's own data of each type, as far as the connection reaches. */
export function SharedPreviews({ grant: { scopes, dataFrom } }: { readonly grant: Grant }) {
  return (
    <Rows>
      {scopes.map((scope) => (
        <li key={scope} className={style['line']}>
          <RowWords>{scopeTitle(scope)}</RowWords>
          <PreviewSheet scope={scope} title={scopeTitle(scope)} firstDay={dataFrom} />
        </li>
      ))}
    </Rows>
  );
}

function lastReadOf(
  { status, grantedAt, lastAccessAt }: Grant,
  scope: string,
  days: readonly AccessDay[],
): string {
  const hasRead = (count: AccessDay['scopes'][number]) =>
    count.released > 0 && count.scope.split(' ').includes(scope);
  // Newest first.
  const day = days.find(({ scopes }) => scopes.some(hasRead))?.date;
  const today = localDay(Date.now());
  if (day === today) return text('lastReadToday');
  if (day !== undefined) return text('lastReadOn', { day: formatDate(day) });
  const isSure = lastAccessAt === null || localDay(grantedAt) > addDays(today, -SHOWN_DAYS);
  if (!isSure) return text('notReadLately', { days: SHOWN_DAYS });
  return text(status === 'active' ? 'notReadYet' : 'notRead');
}
