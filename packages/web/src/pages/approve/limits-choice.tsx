import { GRANT_DAYS_CHOICES } from '@phds/catalog/lifetimes';
import { UNDATED_SCOPES } from '@phds/catalog/scopes';
import type { Ref } from 'react';
import type { Connection, PendingApproval } from '../../api/resources.ts';
import { Card, Soft, Stack } from '../../ui/card.tsx';
import { localDay } from '../../ui/days.ts';
import { TextField } from '../../ui/field.tsx';
import { formatList } from '../../ui/formats.ts';
import { type Choice, RadioChoice } from '../../ui/radio-choice.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatDate, formatLastDay } from '../../ui/time.tsx';
import { type Choices, formatEnd, KEPT, type LookBack, type Terms } from './terms.ts';
import { text } from './texts.ts';

const OTHER = 'other';
/** Lives that are offered under “Other”. */
const LONG_LIVES = GRANT_DAYS_CHOICES.filter((days) => days > 90);

interface LimitsProps {
  readonly approval: PendingApproval;
  readonly terms: Terms;
  readonly onChange: (change: Partial<Choices>) => void;
}

/** How long the app can read, and how far back. Around the date field, `dayField` finds it. */
export function LimitsChoice({
  dayFault,
  dayField,
  ...limits
}: LimitsProps & { readonly dayFault: string | undefined; readonly dayField: Ref<HTMLDivElement> }) {
  return (
    <Card>
      <LifeChoice {...limits} />
      <Stack tight>
        <LookBackChoice {...limits} />
        {limits.terms.lookBack === 'day' ? (
          <div ref={dayField}>
            <TextField
              label={text('firstDay')}
              type="date"
              value={limits.terms.firstDay ?? ''}
              onChange={(day) => limits.onChange({ day })}
              range={{ max: localDay(Date.now()) }}
              error={dayFault}
            />
          </div>
        ) : null}
        <StandingFacts {...limits} />
      </Stack>
    </Card>
  );
}

function LifeChoice({ approval: { app, connection }, terms, onChange }: LimitsProps) {
  const { life } = terms;
  const toChoice = (days: number): Choice => ({ id: String(days), text: text('days', { days }) });
  const isLong = LONG_LIVES.some((days) => String(days) === life);
  const choices = [
    ...(connection === null
      ? []
      : [{ id: KEPT, text: text('keepEnd', { day: formatLastDay(connection.expiresAt) }) }]),
    ...GRANT_DAYS_CHOICES.filter((days) => !LONG_LIVES.includes(days)).map(toChoice),
    { id: OTHER, text: text('other') },
  ];
  return (
    <Stack tight>
      <RadioChoice
        label={text('howLong', { app: app.name })}
        choices={choices}
        value={isLong ? OTHER : life}
        onChange={(id) => onChange({ life: id === OTHER ? String(LONG_LIVES[0]) : id })}
      />
      {isLong ? (
        <RadioChoice
          label={text('otherLife')}
          choices={LONG_LIVES.map(toChoice)}
          value={life}
          onChange={(id) => onChange({ life: id })}
        />
      ) : null}
      <Soft>{text('stopsAutomatically', { day: formatEnd(terms) })}</Soft>
    </Stack>
  );
}

function LookBackChoice({ approval: { app, connection }, terms: { lookBack }, onChange }: LimitsProps) {
  const ways: LookBack[] = ['today', 'month', 'everything', 'day'];
  const choices = ways
    .filter((way) => !(way === 'everything' && connection !== null && connection.dataFrom === null))
    .map((way) => ({ id: way, text: text(LOOK_BACKS[way as keyof typeof LOOK_BACKS]) }));
  return (
    <RadioChoice
      label={text('howFarBack', { app: app.name })}
      choices={[...(connection === null ? [] : [{ id: KEPT, text: keptText(connection) }]), ...choices]}
      value={lookBack}
      onChange={(id) => onChange({ lookBack: id as LookBack })}
    />
  );
}

const LOOK_BACKS = {
  today: 'fromToday',
  month: 'lastMonth',
  everything: 'everything',
  day: 'chooseDay',
} as const;

function keptText({ dataFrom }: Connection): string {
  return dataFrom === null ? text('keepEverything') : text('keepFirstDay', { day: formatDate(dataFrom) });
}

/** Names requested or shared data without dates, which a first day does not limit. */
function StandingFacts({ approval: { app, requestedScopes }, terms: { firstDay, others } }: LimitsProps) {
  if (firstDay === null) return null;
  const all = new Set([...requestedScopes.map(({ scope }) => scope), ...others]);
  const undated = UNDATED_SCOPES.filter((scope) => all.has(scope)).map(scopeTitle);
  if (undated.length === 0) return null;
  return <Soft>{text('undated', { items: formatList(undated), app: app.name })}</Soft>;
}
