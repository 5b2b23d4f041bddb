import { SCOPES, type Scope, SUMMARY_SCOPES } from '@phds/catalog/scopes';
import { useGrants } from '../../api/grants.ts';
import { toArchivePath, useOverview } from '../../api/preview.ts';
import type { HeldData } from '../../api/resources.ts';
import { ButtonAnchor } from '../../ui/button.tsx';
import { Row, Soft, Stack } from '../../ui/card.tsx';
import { BackLink, Narrow, PageHeading } from '../../ui/layout.tsx';
import { findReaders } from '../../ui/readers.ts';
import { Resource } from '../../ui/resource.tsx';
import { Chevron, RowLink, Rows, RowWords } from '../../ui/rows.tsx';
import { groupByCategory, scopeTitle } from '../../ui/scopes.ts';
import style from './my-data-page.module.css';
import { newestText } from './newest-text.ts';
import { ScopePreview } from './scope-preview.tsx';
import { text } from './texts.ts';

/** Every type of data: how much there is, the newest, and the number of apps that can read it. */
export function MyDataPage() {
  const grants = useGrants();
  const overview = useOverview();
  return (
    <Narrow>
      <PageHeading title={text('data')} lead={text('lead')} />
      <Stack>
        <Row>
          {/* Browsers without Fetch Metadata show by the Referer that one of our own pages asks. */}
          <ButtonAnchor href={toArchivePath()} download="my-health-data.zip" referrerPolicy="same-origin">
            {text('download')}
          </ButtonAnchor>
          <Soft>
            {text('downloadText')} {text('downloadLimits')}
          </Soft>
        </Row>
        {overview.data === undefined && overview.isError ? (
          <Resource query={overview}>{() => null}</Resource>
        ) : null}
        <Resource query={grants}>
          {(found) => (
            <Stack>
              {groupByCategory(SCOPES).map(({ category, items }) => (
                <section key={category} aria-label={category}>
                  <Stack tight>
                    <h2>{category}</h2>
                    <Rows>
                      {items.map(({ scope }) => (
                        <Type
                          key={scope}
                          scope={scope}
                          held={overview.data?.find((one) => one.scope === scope)}
                          readers={findReaders(found, scope).length}
                        />
                      ))}
                    </Rows>
                  </Stack>
                </section>
              ))}
            </Stack>
          )}
        </Resource>
      </Stack>
    </Narrow>
  );
}

function Type({
  scope,
  held,
  readers,
}: {
  readonly scope: Scope;
  /** Absent for summaries, which are computed, and until it is known. */
  readonly held: HeldData | undefined;
  readonly readers: number;
}) {
  const id = `of-${scope}`;
  const count =
    held === undefined
      ? ''
      : text(scope === 'read:medications' ? 'heldMedications' : 'held', { count: held.total });
  const newest = held?.latest ? newestText(held.latest) : '';
  const shared = text('sharedWith', { count: readers });
  return (
    <li>
      <RowWords>
        <RowLink to={`/data/${scope}`} describedBy={id}>
          {scopeTitle(scope)}
        </RowLink>
        <div id={id} className={style['about']}>
          {SUMMARY_SCOPES.includes(scope) ? null : (
            <div className={newest === '' ? undefined : style['newest']}>{newest || count}</div>
          )}
          {newest === '' ? shared : `${count} · ${shared}`}
        </div>
      </RowWords>
      <Chevron />
    </li>
  );
}

/** The person's own data of one type. */
export function DataOfTypePage({ scope }: { readonly scope: Scope }) {
  return (
    <>
      <BackLink to="/data">{text('data')}</BackLink>
      <PageHeading title={scopeTitle(scope)} lead={text('lead')} />
      <Stack>
        <ScopePreview scope={scope} />
        <Soft>{text('disclaimer')}</Soft>
      </Stack>
    </>
  );
}
