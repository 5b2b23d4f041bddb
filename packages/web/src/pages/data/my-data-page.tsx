import { isScope, SCOPES, type Scope } from '@phds/catalog/scopes';
import { useSearchParams } from 'wouter';
import { useGrants } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { Soft, Stack } from '../../ui/card.tsx';
import { Select } from '../../ui/field.tsx';
import { Narrow, PageHeading } from '../../ui/layout.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Chevron, RowLink, Rows, RowWords } from '../../ui/rows.tsx';
import { groupByCategory, scopeTitle } from '../../ui/scopes.ts';
import style from './my-data-page.module.css';
import { ScopePreview } from './scope-preview.tsx';
import { text } from './texts.ts';

const OVERVIEW = 'all';

/** All types of data with the number of apps that can read each, or the data of one type (`?scope=`). */
export function MyDataPage() {
  const [parameters, setParameters] = useSearchParams();
  const asked = parameters.get('scope') ?? '';
  const scope = isScope(asked) ? asked : null;
  const options = groupByCategory(SCOPES).flatMap(({ category, items }) =>
    items.map((item) => ({ id: item.scope as string, text: scopeTitle(item.scope), group: category })),
  );
  return (
    <>
      <PageHeading title={text('title')} lead={text('lead')} />
      <Stack>
        <Narrow>
          <Select
            label={text('choose')}
            options={[{ id: OVERVIEW, text: text('overview') }, ...options]}
            value={scope ?? OVERVIEW}
            onChange={(chosen) => setParameters(isScope(chosen) ? { scope: chosen } : {}, { replace: true })}
          />
        </Narrow>
        {scope === null ? <Overview /> : <ScopePreview key={scope} scope={scope} />}
        <Soft>{text('disclaimer')}</Soft>
      </Stack>
    </>
  );
}

/** Every type of data, with the number of apps that can read it. */
function Overview() {
  const grants = useGrants();
  return (
    <Narrow>
      <Resource query={grants}>
        {(found) => (
          <Stack>
            {groupByCategory(SCOPES).map(({ category, items }) => (
              <section key={category} aria-label={category}>
                <Stack tight>
                  <h2>{category}</h2>
                  <Rows>
                    {items.map(({ scope }) => (
                      <Type key={scope} scope={scope} count={countReaders(found, scope)} />
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
        <RowLink to={`/data?scope=${encodeURIComponent(scope)}`} describedBy={id}>
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

function countReaders(grants: readonly Grant[], scope: Scope): number {
  return grants.filter(({ status, scopes }) => status === 'active' && scopes.includes(scope)).length;
}
