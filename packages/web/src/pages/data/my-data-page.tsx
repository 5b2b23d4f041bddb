import { SCOPES, type Scope } from '@phds/catalog/scopes';
import { useGrants } from '../../api/grants.ts';
import { Soft, Stack } from '../../ui/card.tsx';
import { BackLink, Narrow, PageHeading } from '../../ui/layout.tsx';
import { findReaders } from '../../ui/readers.ts';
import { Resource } from '../../ui/resource.tsx';
import { Chevron, RowLink, Rows, RowWords } from '../../ui/rows.tsx';
import { groupByCategory, scopeTitle } from '../../ui/scopes.ts';
import style from './my-data-page.module.css';
import { ScopePreview } from './scope-preview.tsx';
import { text } from './texts.ts';

/** Every type of data, with the number of apps that can read it. */
export function MyDataPage() {
  const grants = useGrants();
  return (
    <Narrow>
      <PageHeading title={text('title')} lead={text('lead')} />
      <Resource query={grants}>
        {(found) => (
          <Stack>
            {groupByCategory(SCOPES).map(({ category, items }) => (
              <section key={category} aria-label={category}>
                <Stack tight>
                  <h2>{category}</h2>
                  <Rows>
                    {items.map(({ scope }) => (
                      <Type key={scope} scope={scope} count={findReaders(found, scope).length} />
                    ))}
                  </Rows>
                </Stack>
              </section>
            ))}
          </Stack>
        )}
      </Resource>
    </Narrow>
  );
}

function Type({ scope, count }: { readonly scope: Scope; readonly count: number }) {
  const id = `apps-${scope}`;
  return (
    <li>
      <RowWords>
        <RowLink to={`/data/${scope}`} describedBy={id}>
          {scopeTitle(scope)}
        </RowLink>
      </RowWords>
      <span id={id} className={style['readers']}>
        {text('sharedWith', { count })}
      </span>
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
