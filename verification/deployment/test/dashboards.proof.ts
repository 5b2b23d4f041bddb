import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { describeWith } from '@phds/test-kit/requirements';
import { listExpressions, readDashboards } from '../src/alerts/dashboards.ts';
import { findProblems, hasPromtool } from '../src/alerts/rule-files.ts';

const dashboards = readDashboards();

test.each(dashboards)('each panel of %s reads from the chosen data source', (_file, dashboard) => {
  const chosen = { name: 'datasource', type: 'datasource', query: 'prometheus' };
  expect(dashboard.templating.list).toContainEqual(expect.objectContaining(chosen));
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it
  const datasource = { type: 'prometheus', uid: '${datasource}' };
  for (const { targets = [], ...panel } of panels)
    for (const each of [panel, ...targets]) expect(each).toMatchObject({ datasource });
});

describeWith('promtool', hasPromtool())('promtool', () => {
  test('can parse every expression of the dashboards', async () => {
    const expressions = dashboards.flatMap(([, dashboard]) => listExpressions(dashboard));
    expect(expressions.length).toBeGreaterThan(20);
    const rules = expressions.map((expr, index) => ({ record: `parsed:${index}`, expr }));
    const directory = await mkdtemp(join(tmpdir(), 'phds-dashboards-'));
    try {
      // YAML contains JSON.
      await writeFile(join(directory, 'parsed.yml'), JSON.stringify({ groups: [{ name: 'parsed', rules }] }));
      expect(findProblems(directory, 'check', 'rules', 'parsed.yml')).toBeNull();
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
