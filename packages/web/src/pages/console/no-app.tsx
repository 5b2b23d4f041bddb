import { ButtonLink } from '../../ui/button.tsx';
import { EmptyPage } from '../../ui/notice.tsx';
import { text } from './texts.ts';

/** For an address that names no app of this developer. */
export function NoApp() {
  return (
    <EmptyPage title={text('noSuchApp')}>
      <p>{text('noSuchAppAdvice')}</p>
      <ButtonLink to="/console">{text('yourApps')}</ButtonLink>
    </EmptyPage>
  );
}
