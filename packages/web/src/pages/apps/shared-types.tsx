import { type Ref, useEffect, useRef, useState } from 'react';
import type { AccessDay, Grant } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { addDays, localDay } from '../../ui/days.ts';
import { Rows, RowWords } from '../../ui/rows.tsx';
import { SENSITIVE_SCOPES, scopeTitle } from '../../ui/scopes.ts';
import { formatDate } from '../../ui/time.tsx';
import { PreviewSheet } from '../approve/preview-sheet.tsx';
import style from './apps.module.css';
import { text } from './texts.ts';

/** How far back the reads of a connection are looked through. */
export const SHOWN_DAYS = 90;
/** With more types than this, each group shows a few and folds the others. */
const MANY_TYPES = 6;
const FEW_TYPES = 2;

/** The days that the page of a connection tells the reads of. */
export function toDaysOf({ id }: Grant) {
  const to = localDay(Date.now());
  return { grantId: id, from: addDays(to, 1 - SHOWN_DAYS), to };
}

/** The types of data of a connection in at most two groups, the very personal ones first. */
export function toTypeGroups(scopes: readonly string[]) {
  const personal = scopes.filter((scope) => SENSITIVE_SCOPES.has(scope));
  const others = scopes.filter((scope) => !SENSITIVE_SCOPES.has(scope));
  return [
    { title: text('veryPersonal'), isPersonal: true, types: personal },
    { title: text(personal.length === 0 ? 'types' : 'otherTypes'), isPersonal: false, types: others },
  ].filter(({ types }) => types.length > 0);
}

/** The types of data of a connection in their groups, each type with its last read; `days` are null until they are known. */
export function SharedTypes({
  grant,
  days,
}: {
  readonly grant: Grant;
  readonly days: readonly AccessDay[] | null;
}) {
  const [isOpen, setOpen] = useState(false);
  const firstNew = useRef<HTMLLIElement>(null);
  // The new rows are before the button, so the focus goes to the first of them.
  useEffect(() => {
    if (isOpen) firstNew.current?.focus();
  }, [isOpen]);
  const isLong = grant.scopes.length > MANY_TYPES;
  const groups = toTypeGroups(grant.scopes).map((group) => ({
    ...group,
    few: isLong ? group.types.slice(0, FEW_TYPES) : group.types,
  }));
  const [hidden] = groups.flatMap(({ types, few }) => types.slice(few.length));
  const folded = grant.scopes.length - groups.flatMap(({ few }) => few).length;
  return (
    <div className={style['types']}>
      {groups.map(({ title, isPersonal, types, few }) => (
        <section key={title} aria-label={title}>
          <h2 className={isPersonal ? style['personal'] : undefined}>{title}</h2>
          <Rows>
            {(isOpen ? types : few).map((scope) => (
              <TypeRow
                key={scope}
                grant={grant}
                scope={scope}
                days={days}
                ref={scope === hidden ? firstNew : null}
              />
            ))}
          </Rows>
        </section>
      ))}
      {folded === 0 ? null : (
        <Button kind="quiet" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          {isOpen ? text('fewerTypes') : text('moreTypes', { count: folded })}
        </Button>
      )}
    </div>
  );
}

function TypeRow({
  grant,
  scope,
  days,
  ref,
}: {
  readonly grant: Grant;
  readonly scope: string;
  readonly days: readonly AccessDay[] | null;
  readonly ref: Ref<HTMLLIElement>;
}) {
  return (
    <li ref={ref} tabIndex={-1} className={style['line']}>
      <RowWords>{scopeTitle(scope)}</RowWords>
      <small className={days === null ? style['unknown'] : undefined}>
        {days === null ? text('lastReadToday') : lastReadOf(grant, scope, days)}
      </small>
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
