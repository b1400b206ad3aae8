// The four metrics of cross-site redirect, as a scrape of each site shows them.

import { type Fleet, MODELS } from './fleet.ts';
import { expect } from './journey.ts';

const FAMILIES = [
  'hivenet_redirects_total',
  'hivenet_redirect_rejections_total',
  'hivenet_sibling_map_version',
  'hivenet_sibling_map_hints_expired',
];

/** Series name with its labels, to its value. */
type Scrape = ReadonlyMap<string, number>;

export interface RedirectMetrics {
  readonly first: Scrape;
  readonly second: Scrape;
}

/** Scrapes both sites, and checks that the metrics say what the demo did: `redirects` redirects and one replay. */
export async function scrapeBoth({ first, second, mapVersion }: Fleet, redirects: number): Promise<RedirectMetrics> {
  const metrics = { first: await scrape(first.metricsUrl), second: await scrape(second.metricsUrl) };
  const counted = sumOf(metrics.first, 'hivenet_redirects_total', `site="${second.id}",hop="1"`);
  expect(counted === redirects, `${first.id} counted ${counted} redirects to ${second.id} instead of ${redirects}`);
  const replays = metrics.second.get('hivenet_redirect_rejections_total{reason="replay"}');
  expect(replays === 1, `${second.id} counted ${replays} replays instead of 1`);
  const rejections = sumOf(metrics.first, FAMILIES[1]) + sumOf(metrics.second, FAMILIES[1]);
  expect(rejections === 1, `both sites counted ${rejections} refused tokens instead of 1`);
  for (const [name, held] of Object.entries(metrics)) {
    expect(held.get('hivenet_sibling_map_version') === mapVersion, `the ${name} site shows another map version`);
    expect(held.get('hivenet_sibling_map_hints_expired') === 0, `the ${name} site ignores the map's hints`);
  }
  expect(sumOf(metrics.second, `hivenet_redirects_total{model="${MODELS.chat.id}`) === 0, `${second.id} redirected`);
  return metrics;
}

async function scrape(url: string): Promise<Scrape> {
  const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(10_000) });
  const lines = (await answer.text()).split('\n').filter((line) => FAMILIES.some((family) => line.startsWith(family)));
  return new Map(
    lines.map((line) => {
      const blank = line.lastIndexOf(' ');
      return [line.slice(0, blank), Number(line.slice(blank + 1))];
    }),
  );
}

function sumOf(scraped: Scrape, family = '', labels = ''): number {
  const series = [...scraped].filter(([name]) => name.startsWith(family) && name.includes(labels));
  return series.reduce((sum, [, value]) => sum + value, 0);
}
