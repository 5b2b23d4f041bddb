// The floor: the best that this machine can do with these tools. One Express + pg process with the same query of the newest 20
// heart readings and the same JSON; no authentication, consent, record or second process.

import { metricsOfCategory } from '@phds/catalog/metrics';
import express from 'express';
import pg from 'pg';

// Names and units by database key.
const names = Object.fromEntries(metricsOfCategory('heart').map((metric) => [metric.key, metric]));
const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: 10,
  options: '-c search_path=health_data',
});
const app = express();

app.get('/heart/:user', async (request, response) => {
  const { rows } = await pool.query({
    name: 'newest-heart',
    text: `SELECT id, type, value, start_at, source FROM reading
           WHERE user_id = $1 AND category = 'heart' ORDER BY start_at DESC, id DESC LIMIT 20`,
    values: [request.params.user],
  });
  const data = rows.map((row) => ({
    id: row.id,
    type: names[row.type]?.name,
    value: row.value,
    unit: names[row.type]?.unit,
    timestamp: row.start_at.toISOString(),
    source: row.source,
  }));
  response.json({ data });
});

const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as { port: number }).port });
});
process.on('disconnect', () => process.exit(0));
