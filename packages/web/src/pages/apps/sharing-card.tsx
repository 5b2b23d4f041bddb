import type { ReactNode } from 'react';
import type { Grant } from '../../api/resources.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card, Facts, Row } from '../../ui/card.tsx';
import { formatList } from '../../ui/formats.ts';
import { scopeTitle } from '../../ui/scopes.ts';
import { Instant } from '../../ui/time.tsx';
import { datesText } from './terms-text.ts';
import { Rich, text } from './texts.ts';

/** What is or was shared, and when the app has read. */
export function SharingCard({ grant }: { readonly grant: Grant }) {
  const { id, status, scopes, grantedAt, dataFrom } = grant;
  const [title, reading] =
    status === 'active' ? [text('sharing'), text('canRead')] : [text('shared'), text('couldRead')];
  return (
    <Card label={title}>
      <h2>{title}</h2>
      <Facts
        facts={[
          [reading, formatList(scopes.map(scopeTitle))],
          [text('since'), <Instant key="since" at={grantedAt} />],
          endOf(grant),
          [text('dataShared'), datesText(dataFrom)],
          [text('lastRead'), <LastRead key="last" grant={grant} />],
        ]}
      />
      <Row>
        <ButtonLink to={`/apps/${id}/receipt`}>{text('viewReceipt')}</ButtonLink>
      </Row>
    </Card>
  );
}

const ENDERS = new Map<string | null, 'byApp' | 'byDeveloper' | 'byOperator'>([
  ['app', 'byApp'],
  ['operator', 'byOperator'],
  ['developer', 'byDeveloper'],
]);

/** When sharing ends or ended, and why. */
function endOf({ status, expiresAt, revokedAt, endedBy }: Grant): readonly [string, ReactNode] {
  const at = <Instant key="end" at={revokedAt ?? expiresAt} />;
  if (status === 'active') return [text('until'), at];
  if (status === 'expired') return [text('expired'), at];
  const by = text(ENDERS.get(endedBy) ?? 'byYou');
  return [text('stopped'), <Rich key="end" id="endedBy" values={{ when: at, by }} />];
}

/** When and how often an app has read. */
function LastRead({ grant: { status, lastAccessAt, accessCount } }: { readonly grant: Grant }) {
  if (lastAccessAt === null) return text(status === 'active' ? 'nothingRead' : 'neverLastRead');
  const when = <Instant at={lastAccessAt} />;
  return <Rich id="lastReadTimes" values={{ when, count: accessCount }} />;
}
