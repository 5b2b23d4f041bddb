import type { Grant } from '../../api/resources.ts';
import style from './apps.module.css';
import { findDomain } from './domains.ts';

/** What tells an app from others of its name. `others` are the apps that are shown with it. */
export function AppDomain({
  app,
  others = [],
  id,
}: {
  readonly app: Grant['app'];
  readonly others?: readonly Grant['app'][];
  readonly id?: string;
}) {
  return (
    <span className={style['domain']} id={id}>
      {findDomain(app, others)}
    </span>
  );
}
