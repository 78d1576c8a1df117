import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument, operations } from '@decision/contracts';
import { Answer, type ServiceRoute } from '@decision/service-kit';
import getAbsoluteFSPath from 'swagger-ui-dist/absolute-path';

/** Allows nothing from other origins, and no script or style in the page itself; it may call the API that it shows. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Decision service: API</title>
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
<link rel="icon" href="data:,">
</head>
<body>
<main id="api"></main>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/start.js"></script>
</body>
</html>
`;

const START = `window.SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  displayOperationId: true,
  docExpansion: 'list',
  validatorUrl: null,
});
`;

/**
 * The page that shows the API, with all its files, and the document of the whole API, which it reads. The files of the page are read once, at
 * start; nothing is fetched from anywhere else.
 */
export const apiPageRoutes = (version: string): readonly ServiceRoute[] => {
  const folder = getAbsoluteFSPath();
  const asset = (name: string): Buffer => readFileSync(join(folder, name));
  const document = openApiDocument(operations, { title: 'Decision service', version });
  return [
    page('/api/docs', Buffer.from(PAGE), 'text/html'),
    page('/api/docs/swagger-ui.css', asset('swagger-ui.css'), 'text/css'),
    page('/api/docs/swagger-ui-bundle.js', asset('swagger-ui-bundle.js'), 'text/javascript'),
    page('/api/docs/start.js', Buffer.from(START), 'text/javascript'),
    { path: '/api/openapi.json', answer: () => new Answer(document) },
  ];
};

const page = (path: string, body: Buffer, type: string): ServiceRoute => {
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'cache-control': 'no-cache',
  };
  return { path, answer: () => new Answer(body, { headers }) };
};
