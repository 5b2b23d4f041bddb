import { useState } from 'react';
import { useApps } from '../../api/developer-apps.ts';
import type { DeveloperApp } from '../../api/resources.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Soft } from '../../ui/card.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Chevron, RowLink, Rows, RowWords } from '../../ui/rows.tsx';
import { Pages } from '../../ui/table.tsx';
import { AppStatusTag } from './app-status-tag.tsx';
import { text } from './texts.ts';

/** The developer's apps. */
export function AppsPage() {
  const [page, setPage] = useState(1);
  const apps = useApps(page);
  return (
    <>
      <PageHeading
        title={text('appsShort')}
        actions={
          apps.data?.mayRegister === false ? null : (
            <ButtonLink to="/console/new" kind="primary">
              {text('register')}
            </ButtonLink>
          )
        }
      />
      <Resource query={apps}>
        {({ data, pagination, mayRegister }) =>
          data.length === 0 ? (
            <Empty title={text(mayRegister ? 'noApps' : 'notDeveloper')}>
              <p>{text(mayRegister ? 'noAppsAdvice' : 'notDeveloperAdvice')}</p>
            </Empty>
          ) : (
            <>
              <Rows>
                {data.map((app) => (
                  <AppRow key={app.clientId} app={app} />
                ))}
              </Rows>
              <Pages pagination={pagination} onChange={setPage} />
            </>
          )
        }
      </Resource>
    </>
  );
}

function AppRow({ app }: { readonly app: DeveloperApp }) {
  return (
    <li>
      <RowWords>
        <RowLink to={`/console/${app.clientId}`} describedBy={app.clientId}>
          <strong>
            <bdi>{app.name}</bdi>
          </strong>
        </RowLink>{' '}
        <AppStatusTag app={app} />
        <Soft>
          <code id={app.clientId}>{app.clientId}</code>
        </Soft>
      </RowWords>
      <Chevron />
    </li>
  );
}
