import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeWith } from '@phds/test-kit/requirements';
import { listExpressions, readDashboards } from '../src/alerts/dashboards.ts';
import { findProblems, hasPromtool } from '../src/alerts/rule-files.ts';

const dashboards = readDashboards();
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

describe.each(dashboards)('%s', (file, { uid, schemaVersion, panels, templating }) => {
  test('has the uid of its file, a variable for the data source, and panels with ids of their own', () => {
    expect(`${uid}.json`).toBe(file);
    expect(schemaVersion).toBeGreaterThanOrEqual(41);
    expect(templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(panels.filter(({ title }) => title === '')).toEqual([]);
  });

  test('reads from the chosen data source in each panel', () => {
    const content = panels.filter(({ type }) => type !== 'row');
    expect(content.length).toBeGreaterThan(5);
    for (const { title, datasource, targets = [] } of content) {
      expect({ title, datasource }).toEqual({ title, datasource: DATASOURCE });
      expect(targets.length).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
      for (const target of targets) expect(target.datasource).toEqual(DATASOURCE);
    }
  });

  test('uses only variables that it or Grafana has', () => {
    const known = new Set(['__rate_interval', ...templating.list.map(({ name }) => name)]);
    const used = JSON.stringify(panels).matchAll(/\$\{?(\w+)/g);
    expect([...used].map(([, name = '']) => name).filter((name) => !known.has(name))).toEqual([]);
  });
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
