import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeWith } from '@phds/test-kit/requirements';
import { listExpressions, type Panel, readDashboards } from '../src/alerts/dashboards.ts';
import { findProblems, hasPromtool } from '../src/alerts/rule-files.ts';

const dashboards = readDashboards();
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

const overlap = (a: Panel['gridPos'], b: Panel['gridPos']) =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

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

  test('shows no panel on top of another, or beyond the right edge', () => {
    const covered = panels.flatMap((one, index) =>
      panels
        .slice(index + 1)
        .flatMap((other) => (overlap(one.gridPos, other.gridPos) ? [[one.title, other.title]] : [])),
    );
    expect(covered).toEqual([]);
    expect(panels.filter(({ gridPos }) => gridPos.x + gridPos.w > 24)).toEqual([]);
  });

  test('uses only variables that it or Grafana has', () => {
    const known = new Set(['__rate_interval', ...templating.list.map(({ name }) => name)]);
    const used = JSON.stringify(panels).matchAll(/\$\{?(\w+)/g);
    expect([...used].map(([, name = '']) => name).filter((name) => !known.has(name))).toEqual([]);
  });
});

test('dashboards have ids and titles of their own', () => {
  expect(new Set(dashboards.map(([, { uid }]) => uid)).size).toBe(dashboards.length);
  expect(new Set(dashboards.map(([, { title }]) => title)).size).toBe(dashboards.length);
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
