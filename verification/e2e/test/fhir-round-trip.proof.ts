import { expect, test } from '@jest/globals';
import { DATA_PATHS } from '@phds/catalog/endpoints';
import { FHIR_TYPES } from '@phds/catalog/fhir/resource-types';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { setTimeZone } from '@phds/running-system/ingestion';
import { type Approval, expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { Answer } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { shared } from '@phds/test-kit/shared';
import { baseOf } from '../src/fhir-clients.ts';
import { runImport } from '../src/import-command.ts';

const stack = await useSharedStack();
const files = shared.use(openFilesOfTest());
const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));

type Body = Answer['body'];

// Aggregations and trends are computed from the readings.
const SCOPES = SCOPE_NAMES.filter((scope) => scope !== 'read:aggregations' && scope !== 'read:trends');
const PATHS = DATA_PATHS.flatMap(({ scope, path, endpoint }) =>
  SCOPES.some((known) => known === scope) && endpoint !== 'adherence' ? path : [],
);

/** What an app reads about a person. */
async function open(user: string, approval: Approval = {}) {
  const { accessToken } = await app.connect(await signIn(stack, user), SCOPES, approval);
  const read = async (path: string): Promise<Body> =>
    expectStatus(200, await app.read(accessToken, path)).body;
  const readList = async (path: string): Promise<Body[]> => {
    const pages: Body[] = [];
    for (let page = 1, last = 1; page <= last; page += 1) {
      const { data, pagination } = await read(`${path}?page=${page}&pageSize=100`);
      pages.push(data);
      last = pagination.totalPages;
    }
    return pages.flat();
  };
  return {
    read,
    /** Everything in the data API by path, in an order without ids. */
    async readLists(): Promise<Record<string, string[]>> {
      const lists: Record<string, string[]> = { profile: [JSON.stringify(await read('/api/v1/profile'))] };
      for (const path of PATHS.filter((each) => !each.endsWith('/profile'))) {
        const items = await readList(path);
        lists[path] = items.map(withoutId).toSorted();
        for (const { id, name } of path.endsWith('/medications') ? items : []) {
          const doses = await readList(`${path}/${id}/adherence`);
          lists[`doses of ${name}`] = doses.flatMap(toKeptDose).map(withoutId).toSorted();
        }
      }
      return lists;
    },
    /** Every resource in FHIR, as entries. */
    async readEntries(): Promise<Body[]> {
      const entries: Body[] = [];
      for (const type of FHIR_TYPES) {
        for (let url = `${baseOf(app)}/${type}?_count=200`; url !== undefined; ) {
          const { entry = [], link } = await read(url.slice(app.gateway.length));
          entries.push(...entry);
          url = link.find(({ relation }: Body) => relation === 'next')?.url;
        }
      }
      return entries;
    },
  };
}

function withoutId({ id: _, ...rest }: Body): string {
  return JSON.stringify(rest);
}

/** FHIR has no pending doses, and one time of a dose. */
function toKeptDose({ scheduledAt, takenAt, ...dose }: Body): Body[] {
  if (dose.status === 'pending') return [];
  const isTaken = dose.status === 'taken';
  const times = isTaken ? [null, takenAt ?? scheduledAt] : [scheduledAt, takenAt];
  return [{ ...dose, times }];
}

/** A resource without ids, which differ between people. */
function toText({ resource }: Body): string {
  const ids = /"id":"[^"]*",|(?<="reference":"\w+)\/[^"]*|(?<="value":")sub_\w+/g;
  return JSON.stringify(resource).replaceAll(ids, '');
}

/** Two days of ada, or all with E2E_EVERY_RESOURCE=1, which takes minutes. */
async function openAda() {
  if (process.env['E2E_EVERY_RESOURCE'] === '1') return open('ada');
  const { data } = await (await open('ada')).read('/api/v1/health-data/heart?pageSize=1');
  const dayBefore = new Date(Date.parse(data[0].timestamp) - 86_400_000);
  return open('ada', { dataFrom: dayBefore.toISOString().slice(0, 10) });
}

const HOSTILE = 'a ""b"" \\ \u2028\u200b\n\t<c> 😀';

/** What ada does not have. */
async function openSpecial() {
  const readings = `type,start,end,value,unit,source
ECG,2026-03-01T08:00:00.125Z,,,,watch
Blood Pressure,2026-03-01T08:00:00Z,,120,,cuff
BP Diastolic,2026-03-01T08:00:00Z,,80,,manual
BP Diastolic,2026-03-01T08:00:00Z,2026-03-01T08:00:30Z,81,,cuff
Glucose,2026-03-01T08:00:00Z,,99.5,,meter
Glucose,2026-03-01T08:00:00Z,,98,,ehr
Respiratory,2026-03-01T08:00:00Z,,14,,manual
`;
  const records = `record,key,name,pattern,frequency,medication,status,scheduledAt,takenAt,dose,reason
medication,m,M,OTHER,"${HOSTILE}",,,,,,
medication,n,N,,"now and then",,,,,,
adherence,1,,,,m,taken,2026-03-01T08:00:00Z,2026-03-01T08:05:00Z,"${HOSTILE}","${HOSTILE}"
adherence,2,,,,m,missed,2026-03-02T08:00:00Z,,,"${HOSTILE}"
adherence,3,,,,m,taken,2026-03-03T08:00:00Z,,,
adherence,4,,,,m,pending,2026-03-04T08:00:00Z,,,
`;
  const texts = `record,severity,sinceDate,name,description,mood,note,generatedAt,from,to,resourceType,summary,timestamp,title,dateTime,gender,bloodType
symptom,mild,,,"${HOSTILE}",,,,,,,,2026-03-01T08:00:00Z,,,,
mood,,,,,neutral,"${HOSTILE}",,,,,,2026-03-01T08:00:00Z,,,,
report,,,,,,,2026-03-01T08:00:00Z,2026-02-01,2026-02-28,,"${HOSTILE}",,,,,
ehr,,,,,,,,,,Goal,"${HOSTILE}",2026-03-01T08:00:00Z,,,,
condition,,2019-05,C,,,,,,,,,,,,,
allergy,moderate,2019,A,,,,,,,,,,,,,
appointment,,,,,,,,,,,,,T,2026-05-02T10:00:00-03:30,,
profile,,,Special,,,,,,,,,,,,other,AB-
`;
  for (const [index, text] of [readings, records, texts].entries()) {
    const path = files.write(`${index}.csv`, text);
    expect(await runImport(stack, ['csv', path, '--user', 'special'])).toMatchObject({ refusedCount: 0 });
  }
  return open('special');
}

test.each([
  ['ada', 'json', openAda],
  ['special', 'ndjson', openSpecial],
])(
  'everything of %s is read through FHIR, imported for another person, and is the same',
  async (user, format, openOriginal) => {
    const original = await openOriginal();
    const entries = await original.readEntries();
    const text =
      format === 'json'
        ? JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry: entries })
        : entries.map(({ resource }) => JSON.stringify(resource)).join('\n');
    const copy = `${user}-${app.clientId}`;
    const path = files.write(`${user}.${format}`, text);
    const report = await runImport(stack, ['fhir', path, '--user', copy]);
    expect(report).toMatchObject({ refusedCount: 0, leftOutCount: 0, stored: { updated: 0, unchanged: 0 } });
    await setTimeZone(stack, copy, (await original.read('/api/v1/time-zone')).data.timeZone);
    const copied = await open(copy);
    const [expected, found] = [await original.readLists(), await copied.readLists()];
    expect(found).toEqual(expected);
    expect((await copied.readEntries()).map(toText).toSorted()).toEqual(entries.map(toText).toSorted());
  },
  300_000,
);
