import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { Link } from 'wouter';
import type { Grant } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { Folded } from '../../ui/folded.tsx';
import { formatList } from '../../ui/formats.ts';
import { findReaders } from '../../ui/readers.ts';
import { Rows, RowWords } from '../../ui/rows.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import style from './apps.module.css';
import { text } from './texts.ts';

/** The other view of the connections, folded: which apps can read each type of data, also through summaries. */
export function TypesOfData({ grants }: { readonly grants: readonly Grant[] }) {
  const types = SCOPE_NAMES.map((scope) => ({ scope, readers: findReaders(grants, scope) })).filter(
    ({ readers }) => readers.length > 0,
  );
  if (types.length === 0) return null;
  return (
    <Folded title={<h2>{text('byType')}</h2>}>
      {() => (
        <Rows>
          {types.map(({ scope, readers }) => (
            <li key={scope}>
              <RowWords>
                <h3>{scopeTitle(scope)}</h3>
                {readers.map(({ grant: { id, app }, through }) => (
                  <div key={id} className={style['target']}>
                    <Link href={`/apps/${id}`}>{appTitle(app)}</Link>{' '}
                    {through.length === 0 ? null : (
                      <small>
                        {text('throughSummaries', { summaries: formatList(through.map(scopeTitle)) })}
                      </small>
                    )}
                  </div>
                ))}
              </RowWords>
            </li>
          ))}
        </Rows>
      )}
    </Folded>
  );
}
