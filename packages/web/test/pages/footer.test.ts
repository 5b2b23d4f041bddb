import { expect, test } from '@jest/globals';
import { example } from '../kit/answers.ts';
import { openPage, screen, textOf } from '../kit/page.ts';

const deployment = {
  operator: 'Clinic A',
  privacyUrl: 'https://clinic.test/privacy',
  supportUrl: 'mailto:help@clinic.test',
};
const APPROVAL = `/approve/${example('getPendingApproval').data.id}`;
const linksOf = (footer: HTMLElement) =>
  [...footer.querySelectorAll('a')].map((link) => [textOf(link), link.getAttribute('href')]);

test.each([
  ['/', [['Developers', '/console']]],
  ['/sign-in/callback', [['Developers', '/console']]],
  ['/console', [['Your health data', '/']]],
  [APPROVAL, []],
])('the footer at %s says who runs the deployment, and where it answers', async (path, others) => {
  await using page = await openPage(path, { deployment, isSignedIn: path === APPROVAL });
  const footer = screen.getByRole('contentinfo');
  page.see('Operated by Clinic A', footer);
  expect(linksOf(footer)).toEqual([
    ['Privacy', 'https://clinic.test/privacy'],
    ['Help', 'mailto:help@clinic.test'],
    ...others,
  ]);
});

test('the footer says nothing that is not set', async () => {
  await using _ = await openPage('/', { isSignedIn: false });
  expect(textOf(screen.getByRole('contentinfo'))).toBe('DevelopersEnglishDeutsch');
});
