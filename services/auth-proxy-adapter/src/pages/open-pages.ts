import { type Branding, page } from '@decision/contracts';
import { type DoorRoute } from '../door/route';
import { html, pageAnswer, STYLE_PATH } from './html';

/** Pages that need no session. */
export const openPages = (branding: Branding): readonly DoorRoute[] => [styleRoute(branding), deniedRoute(branding)];

const deniedRoute = (branding: Branding): DoorRoute => ({
  operation: page({
    id: 'showDenied',
    path: '/auth/denied',
    summary: 'Page for people who may not come in',
    description: 'Asks for no key, no token and no session.',
  }),
  answer: () =>
    pageAnswer(branding, {
      title: 'Access denied',
      content: html`<p>
          You are known, but you may not use this service. Ask the people who run it to give you access.
        </p>
        <p><a href="/dashboard">Try again</a></p>`,
    }),
});

const styleRoute = ({ colors }: Branding): DoorRoute => ({
  operation: page({ id: 'getPageStyle', path: STYLE_PATH, summary: 'Style sheet of the pages' }),
  answer: () => ({
    status: 200,
    headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, max-age=300' },
    body: `:root{--primary:${colors.primary};--accent:${colors.accent}}
body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:0 auto;padding:1rem;color:#1a1a1a;background:#fff}
header{display:flex;align-items:center;gap:.5rem;border-bottom:1px solid #ddd;padding-bottom:.5rem}
h1{color:var(--primary);font-size:1.5rem}a{color:var(--accent)}
label{display:block;margin:.75rem 0 .25rem}input{font:inherit;padding:.4rem;width:100%;max-width:24rem;box-sizing:border-box}
button{font:inherit;padding:.4rem 1rem;margin-top:1rem;color:#fff;background:var(--primary);border:0;border-radius:.25rem;cursor:pointer}
dt{font-weight:600}dd{margin:0 0 .5rem}.problem{color:#a11}footer{margin-top:2rem;border-top:1px solid #ddd;padding-top:.5rem}
`,
  }),
});
