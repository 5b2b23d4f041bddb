import { useState } from 'react';
import { Link } from 'wouter';
import { useApps } from '../../api/developer-apps.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Row, Stack } from '../../ui/card.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Pages, Table } from '../../ui/table.tsx';
import { Day } from '../../ui/time.tsx';
import { AppStatusTag } from './app-status-tag.tsx';
import { text } from './texts.ts';

export function ConsolePage() {
  const [page, setPage] = useState(1);
  const apps = useApps(page);
  return (
    <>
      <PageHeading
        title={text('title')}
        lead={text('lead')}
        actions={
          apps.data?.mayRegister === false ? null : (
            <ButtonLink to="/console/new" kind="primary">
              {text('register')}
            </ButtonLink>
          )
        }
      />
      <Stack>
        <Resource query={apps}>
          {({ data, pagination, mayRegister }) =>
            data.length === 0 ? (
              <Empty title={text(mayRegister ? 'noApps' : 'notDeveloper')}>
                <p>{text(mayRegister ? 'noAppsAdvice' : 'notDeveloperAdvice')}</p>
              </Empty>
            ) : (
              <div>
                <Table
                  caption={text('yourApps')}
                  rows={data}
                  keyOf={({ clientId }) => clientId}
                  columns={[
                    {
                      title: text('name'),
                      cell: ({ clientId, name }) => (
                        <Link href={`/console/${clientId}`}>
                          <bdi>{name}</bdi>
                        </Link>
                      ),
                    },
                    { title: text('clientId'), cell: ({ clientId }) => <code>{clientId}</code> },
                    { title: text('status'), cell: (app) => <AppStatusTag app={app} /> },
                    { title: text('registeredOn'), cell: ({ createdAt }) => <Day at={createdAt} /> },
                  ]}
                />
                <Pages pagination={pagination} onChange={setPage} />
              </div>
            )
          }
        </Resource>
        <Row>
          <a href="/docs">{text('documentation')}</a>
          <a href="/openapi.json">{text('openApi')}</a>
          <a href="/oauth/scopes">{text('scopes')}</a>
          <a href="/catalog.json">{text('catalog')}</a>
          <a href="/.well-known/oauth-authorization-server">{text('metadata')}</a>
        </Row>
      </Stack>
    </>
  );
}
