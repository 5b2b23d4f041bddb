import { useEffect, useRef, useState } from 'react';
import {
  type AccessFilter,
  type DayFilter,
  toExportPath,
  useAccessDays,
  useAccesses,
} from '../../api/accesses.ts';
import { useKnownApps } from '../../api/grants.ts';
import type { AccessDay } from '../../api/resources.ts';
import { nameApps } from '../../ui/app-title.ts';
import { Button, ButtonAnchor } from '../../ui/button.tsx';
import { Row, Soft, Stack } from '../../ui/card.tsx';
import { localDay } from '../../ui/days.ts';
import { focusHeading } from '../../ui/focus.ts';
import { PageHeading } from '../../ui/layout.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { formatDay, TIME_ZONE } from '../../ui/time.tsx';
import { DayChart } from './day-chart.tsx';
import { DayList, type OpenLines, useOpenLines } from './day-list.tsx';
import { Filters } from './filters.tsx';
import { OperatorActs } from './operator-acts.tsx';
import {
  ALL,
  countDays,
  EVERYTHING,
  type Selection,
  toDayFilter,
  toDaysBefore,
  toFilter,
} from './selection.ts';
import { text } from './texts.ts';

/** Who read what, by day, when and how much. */
export function HistoryPage() {
  const [selection, setSelection] = useState<Selection>(EVERYTHING);
  const openLines = useOpenLines();
  const known = useKnownApps();
  const period = toDayFilter(selection);
  const days = useAccessDays(period);
  const appNames = nameApps([...(known.data ?? []), ...(days.data ?? []).map(({ app }) => app)]);
  const wasPressed = useRef(false);
  const select = (next: Selection) => {
    setSelection(next);
    wasPressed.current = true;
  };
  useEffect(() => {
    // Until the days arrive, the pressed button stays with the days before.
    if (!wasPressed.current || days.isPlaceholderData) return;
    wasPressed.current = false;
    focusHeading();
  });
  return (
    <>
      <PageHeading
        title={text('history')}
        lead={text('lead')}
        actions={<ExportButton filter={toFilter(period)}>{text('export')}</ExportButton>}
      />
      <Stack>
        <Filters selection={selection} appNames={appNames} onChange={setSelection} />
        <Resource query={days} labels={{ from: text('from'), to: text('to') }}>
          {(found) =>
            found.length === 0 ? (
              <NothingFound selection={selection} period={period} onSelect={select} />
            ) : (
              <Found
                days={found}
                period={period}
                appNames={appNames}
                openLines={openLines}
                selection={selection}
                onSelect={select}
              />
            )
          }
        </Resource>
        <OperatorActs />
        <Row>
          <ExportButton filter={{}}>{text('exportAll')}</ExportButton>
        </Row>
        <Soft>{text('zone', { zone: TIME_ZONE })}</Soft>
      </Stack>
    </>
  );
}

interface Shown {
  readonly selection: Selection;
  readonly period: DayFilter;
  readonly onSelect: (selection: Selection) => void;
}

function Found({
  days,
  appNames,
  openLines,
  ...shown
}: Shown & {
  readonly days: readonly AccessDay[];
  readonly appNames: ReadonlyMap<string, string>;
  readonly openLines: OpenLines;
}) {
  return (
    <>
      <DayChart
        days={days}
        period={shown.period}
        onOpen={(day) => shown.onSelect({ ...shown.selection, from: day, to: day })}
      />
      <DayList days={days} appNames={appNames} openLines={openLines} selection={shown.selection} />
      <Earlier {...shown} />
    </>
  );
}

function Earlier({ selection, period, onSelect }: Shown) {
  return (
    <Row>
      <Button onPress={() => onSelect(toDaysBefore(selection, period))}>
        {text('earlier', { count: countDays(period) })}
      </Button>
    </Row>
  );
}

/** Explains why there are no days, with a way to those that there are. */
function NothingFound(shown: Shown) {
  const { selection, onSelect } = shown;
  if (selection.clientId === ALL && selection.scope === ALL) return <NothingLately {...shown} />;
  return (
    <>
      <Empty title={text('noneChosen')}>
        <p>{text('noneChosenText')}</p>
        <Button onPress={() => onSelect({ ...selection, clientId: ALL, scope: ALL })}>
          {text('removeFilters')}
        </Button>
      </Empty>
      <Earlier {...shown} />
    </>
  );
}

function NothingLately(shown: Shown) {
  const { selection, period, onSelect } = shown;
  const latest = useAccesses({}, 1, 1);
  return (
    <Resource query={latest}>
      {({ data: [access] }) => {
        if (access === undefined) {
          return (
            <Empty title={text('none')}>
              <p>{text('noneText')}</p>
            </Empty>
          );
        }
        const day = localDay(access.at);
        return (
          <>
            <Empty title={text('noneLately', { count: countDays(period) })}>
              <p>{text('latest', { day: formatDay(access.at) })}</p>
              <Button onPress={() => onSelect({ ...selection, from: day, to: day })}>
                {text('showLatest')}
              </Button>
            </Empty>
            <Earlier {...shown} />
          </>
        );
      }}
    </Resource>
  );
}

/** Downloads all accesses that match the filter as CSV, streamed by the browser. */
function ExportButton({ filter, children }: { readonly filter: AccessFilter; readonly children: string }) {
  return (
    <ButtonAnchor href={toExportPath(filter)} download="access-history.csv">
      {children}
    </ButtonAnchor>
  );
}
