import { SUMMARY_SCOPES, UNDATED_SCOPES } from '@phds/catalog/scopes';
import type { ReactNode, Ref } from 'react';
import type { useDecision } from '../../api/approvals.ts';
import { Problem } from '../../api/problem.ts';
import type { Connection, PendingApproval } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Row, Soft } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { formatList } from '../../ui/formats.ts';
import { Notice } from '../../ui/notice.tsx';
import { SENSITIVE_SCOPES, scopesInSentence, scopeTitle } from '../../ui/scopes.ts';
import { Clock, formatDate } from '../../ui/time.tsx';
import { describeWithdrawal } from '../../ui/withdrawal.ts';
import style from './approval-form.module.css';
import { ConnectionChanges, ConnectionLink, findChanges, MOST_NAMED } from './connection-changes.tsx';
import { formatEnd, type Terms } from './terms.ts';
import { Rich, text } from './texts.ts';

interface DecisionProps {
  readonly approval: PendingApproval;
  readonly terms: Terms;
  readonly decision: ReturnType<typeof useDecision>;
  readonly isRefetching: boolean;
}

/** The sentence that says what an approval would allow, what it would change, and after both the two buttons. */
export function DecisionCard({
  summary,
  onShare,
  onDeny,
  onStop,
  ...rest
}: DecisionProps & {
  readonly summary: Ref<HTMLDivElement>;
  readonly onShare: () => void;
  readonly onDeny: () => void;
  readonly onStop: (scopes: readonly string[]) => void;
}) {
  const { approval, terms, decision } = rest;
  const { app, connection } = approval;
  const title = text(connection === null ? 'inShort' : 'whatChanges');
  const count = terms.chosen.length;
  const isBusy = decision.isPending || decision.isSuccess;
  return (
    <Card label={title}>
      <h2>{title}</h2>
      <div ref={summary} tabIndex={-1} role="status" className={style['summary']}>
        {toSummary(approval, terms).map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {connection === null ? null : (
          <ConnectionChanges approval={approval} connection={connection} terms={terms} />
        )}
      </div>
      <StopThoseToo approval={approval} terms={terms} onStop={onStop} />
      <p>
        <strong>{text('stopAnyTime')}</strong> {text('responsible', { app: app.name })}
      </p>
      <FailureNotice {...rest} />
      <div className={style['buttons']}>
        <Button isBusy={isBusy} onPress={onDeny}>
          {text(connection === null ? 'deny' : 'changeNothing')}
        </Button>
        <Button isBusy={isBusy || count === 0} onPress={onShare}>
          {isBusy ? text('oneMoment') : shareText(connection, terms)}
        </Button>
      </div>
      <Soft>
        <Rich id="waitsUntil" values={{ time: <Clock at={approval.expiresAt} /> }} />
      </Soft>
    </Card>
  );
}

/** Stops the scopes through which the app would still get what is withdrawn; those of other requests on their own page. */
function StopThoseToo({
  approval: { app, connection },
  terms: { chosen, scopes, stopped },
  onStop,
}: Pick<DecisionProps, 'approval' | 'terms'> & { readonly onStop: (scopes: readonly string[]) => void }) {
  const { through } = describeWithdrawal(app.name, scopes, stopped);
  if (connection === null || chosen.length === 0 || through.length === 0) return null;
  if (!through.every((scope) => chosen.includes(scope)))
    return <ConnectionLink id={connection.grantId}>{text('stopThoseToo')}</ConnectionLink>;
  return (
    <Row>
      <Button onPress={() => onStop(through)}>{text('stopThoseToo')}</Button>
    </Row>
  );
}

/** Counts what the sentence names. With a connection, an approval can also end or shorten something, so there is no count. */
function shareText(connection: Connection | null, terms: Terms): string {
  const count = terms.chosen.length;
  if (connection === null) return count === 0 ? text('share') : text('shareTypes', { count });
  return text(count === 0 || findChanges(connection, terms).isSame ? 'agree' : 'agreeToChanges');
}

/** Why the latest decision was not made, or could not be confirmed. */
function FailureNotice({ approval, decision, isRefetching }: DecisionProps): ReactNode {
  const { failure, variables } = decision;
  if (variables === undefined || failure === null) return null;
  if (failure.error instanceof Problem && failure.error.code === 'CONFLICT') {
    // Until the request is read again, it is unknown what has changed.
    if (isRefetching) return null;
    const isConnection = variables.revision !== approval.revision;
    return (
      <Notice
        role="alert"
        tone="bad"
        title={text(isConnection ? 'connectionChanged' : 'appChanged', { app: approval.app.name })}
      >
        {text(isConnection ? 'lookAgain' : 'startAgain', { app: approval.app.name })}
      </Notice>
    );
  }
  return (
    <ChangeNotice
      failure={failure}
      undone={text(variables.terms === null ? 'denialUndone' : 'undone')}
      unknown={text('unknown')}
      labels={{ dataFrom: text('firstDay') }}
    />
  );
}

/**
 * Says what an approval with these terms would allow: one sentence with the types of data, the end and the first day, and what it does
 * not tell about some types. Many types follow the sentence in groups. Without a choice, it says what to do.
 */
function toSummary({ app, connection }: PendingApproval, terms: Terms): string[] {
  const { chosen, scopes, firstDay, dayFault } = terms;
  if (chosen.length === 0) return [text(connection === null ? 'nothing' : 'nothingKept', { app: app.name })];
  if (dayFault !== null) return [text(dayFault === 'missing' ? 'dayMissing' : 'dayFuture')];
  const summaries = SUMMARY_SCOPES.filter((scope) => scopes.includes(scope));
  const undated = firstDay === null ? [] : UNDATED_SCOPES.filter((scope) => scopes.includes(scope));
  return [
    toSentence(app.name, terms),
    ...(scopes.length > MOST_NAMED ? toGroups(scopes) : []),
    summaries.length === 0
      ? null
      : text('coversEverything', { items: formatList(summaries.map(scopeTitle)), count: summaries.length }),
    undated.length === 0
      ? null
      : text('noDates', { items: formatList(undated.map(scopeTitle)), app: app.name }),
  ].filter((sentence) => sentence !== null);
}

/** “Very personal: Mood and Symptoms.”, then the others. */
function toGroups(scopes: readonly string[]): string[] {
  const groups = Map.groupBy(scopes, (scope) => SENSITIVE_SCOPES.has(scope));
  return ([true, false] as const).flatMap((isPersonal) => {
    const titles = groups.get(isPersonal)?.map(scopeTitle) ?? [];
    if (titles.length === 0) return [];
    const others = groups.has(true) ? 'otherTypes' : 'types';
    const group = text(isPersonal ? 'veryPersonal' : others);
    return [text('groupOfTypes', { group, items: formatList(titles) })];
  });
}

function toSentence(app: string, terms: Terms): string {
  const { scopes, firstDay, lookBack } = terms;
  const items =
    scopes.length > MOST_NAMED
      ? text('manyTypes', { count: scopes.length })
      : text('fewTypes', { items: scopesInSentence(scopes) });
  const values = { app, items, until: formatEnd(terms) };
  if (firstDay === null) return text('sentenceEverything', values);
  return text(lookBack === 'today' ? 'sentenceToday' : 'sentence', { ...values, day: formatDate(firstDay) });
}
