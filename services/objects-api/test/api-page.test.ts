import { operations } from '@decision/contracts';
import { type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

let api: ObjectsApiUnderTest;
beforeAll(async () => {
  api = await startObjectsApi();
});
afterAll(() => api.stop());

const get = (path: string): Promise<Response> => fetch(`${api.baseUrl}${path}`);

describe('the page of the API', () => {
  it('and everything it asks for come from this service, under a strict policy', async () => {
    const page = await get('/api/docs');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const text = await page.text();
    expect(text).not.toMatch(/https?:\/\/|<style|style="|\son\w+="|<script>/);
    const asked = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((match) => match[1] ?? '');
    expect(asked).toHaveLength(3);
    const types: (string | null)[] = [];
    for (const path of asked) {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100);
      types.push(answer.headers.get('content-type'));
    }
    expect(types).toEqual([
      'text/css; charset=utf-8',
      'text/javascript; charset=utf-8',
      'text/javascript; charset=utf-8',
    ]);
    expect(await (await get('/api/docs/start.js')).text()).toContain("'/api/openapi.json'");
  });

  it('serves nothing else of its folder', async () => {
    for (const name of ['index.html', 'package.json', '../package.json', '%2e%2e/package.json', 'swagger-ui.js']) {
      expect((await get(`/api/docs/${name}`)).status).toBe(404);
    }
  });

  it('shows every call of every service', async () => {
    const document = (await (await get('/api/openapi.json')).json()) as {
      openapi: string;
      paths: Record<string, object>;
    };
    expect(document.openapi).toBe('3.1.0');
    for (const { path, method } of operations) expect(document.paths[path]).toHaveProperty(method);
  });
});

describe('the document of this service', () => {
  it('describes what is served, and every operation of the service is served', async () => {
    const document = (await (await get('/openapi.json')).json()) as { paths: Record<string, object> };
    const mine = operations.filter(({ service }) => service === 'objects-api');
    const described = Object.entries(document.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`)); // prettier-ignore
    expect(described.sort()).toEqual(mine.map(({ method, path }) => `${method} ${path}`).sort());
    for (const { path, method } of mine) {
      const answer = await fetch(`${api.baseUrl}${path.replace(/\{\w+\}/g, 'x')}`, { method: 'OPTIONS' });
      expect(answer.headers.get('allow')).toContain(method.toUpperCase());
    }
  });
});
