import { expect, test } from '@jest/globals';
import { ACCESS_CSV_HEADER, type ExportedAccess, toAccessCsvLine, toCsvLine } from '../src/access-csv.ts';

const ACCESS: ExportedAccess = {
  id: 'acc_017f22e279b070008123456789abcdef',
  at: '2026-03-01T12:00:00.000Z',
  app: 'app_1',
  appName: 'Pulse, "the" Diary',
  grantId: 'grt_1',
  scope: 'read:mood',
  endpoint: '/api/v1/mood',
  from: '',
  to: '2026-03-01',
  page: 1,
  recordCount: 20,
  requestId: 'req_1',
  outcome: 'refused',
  reason: 'GRANT_REVOKED',
};

test('a line of CSV is quoted where RFC 4180 requires it', () => {
  expect(toAccessCsvLine(ACCESS)).toBe(
    'acc_017f22e279b070008123456789abcdef,2026-03-01T12:00:00.000Z,app_1,"Pulse, ""the"" Diary",grt_1,read:mood,' +
      '/api/v1/mood,,2026-03-01,1,20,req_1,refused,GRANT_REVOKED\r\n',
  );
});

test.each([
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t'=1"],
  ['\r=1', `"'\r'=1"`],
  ['＝1', "'＝1"],
  ['a=1-2', 'a=1-2'],
  ["Health;=cmd|' /C calc'!A0", `Health;'=cmd|' /C calc'!A0`],
  ['Health; "=1', `"Health; ""'=1"`],
  ['a|+1', "a|'+1"],
  ['a\t@1', "a\t'@1"],
  ['a\r\n-1', `"a\r\n'-1"`],
  ['a\n\u2028 ＝1', `"a\n\u2028 '＝1"`],
  ['Sleep; a=b | c-d', 'Sleep; a=b | c-d'],
])('an app name that looks like a formula is not evaluated by a spreadsheet: %j', (appName, field) => {
  expect(toAccessCsvLine({ ...ACCESS, appName })).toContain(`,app_1,${field},grt_1,`);
});

test('a negative number stays a number', () => {
  expect(toCsvLine([-300, '-300', 1.5])).toBe("-300,'-300,1.5\r\n");
});

test('the header has as many columns as a line', () => {
  const { appName: _, ...plain } = ACCESS;
  const line = toAccessCsvLine({ ...plain, appName: 'Pulse' });
  expect(line.split(',')).toHaveLength(ACCESS_CSV_HEADER.split(',').length);
});
