import { SCOPES, type Scope } from '@phds/catalog/scopes';
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
      <PageHeading title={text('title')} lead={text('lead')} />
      <Stack>
        <Row>
          {/* Browsers without Fetch Metadata show by the Referer that one of our own pages asks. */}
          <ButtonAnchor href={toArchivePath()} download="my-health-data.zip" referrerPolicy="same-origin">
            {text('download')}
          </ButtonAnchor>
          <Soft>{text('downloadText')}</Soft>
        </Row>
        <Resource query={grants}>
          {(found) => (
            <Resource query={overview}>
              {(held) => (
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
                              held={held.find((one) => one.scope === scope)}
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
  /** Absent for summaries, which are computed. */
  readonly held: HeldData | undefined;
  readonly readers: number;
}) {
  const id = `of-${scope}`;
  const newest = held?.latest ? newestText(held.latest) : '';
  return (
    <li>
      <RowWords>
        <RowLink to={`/data/${scope}`} describedBy={id}>
          {scopeTitle(scope)}
        </RowLink>
        <div id={id} className={style['about']}>
          {newest === '' ? null : <div className={style['newest']}>{newest}</div>}
          {held === undefined ? '' : `${text('held', { count: held.total })} · `}
          {text('sharedWith', { count: readers })}
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
      <BackLink to="/data">{text('title')}</BackLink>
      <PageHeading title={scopeTitle(scope)} lead={text('lead')} />
      <Stack>
        <ScopePreview scope={scope} />
        <Soft>{text('disclaimer')}</Soft>
      </Stack>
    </>
  );
}
