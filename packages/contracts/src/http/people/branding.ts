import { type Static, Type } from '@sinclair/typebox';
import { type Operation } from '../operation';

const color = (what: string) => Type.String({ description: `${what}, as #rrggbb.` });

export const Branding = Type.Object(
  {
    name: Type.String({ description: 'Name that pages show: BRANDING_NAME.' }),
    logo_url: Type.Union([Type.String(), Type.Null()], {
      description: 'Address of the logo: BRANDING_LOGO_URL; null if none is set.',
    }),
    colors: Type.Object(
      { primary: color('Colour of headings and buttons'), accent: color('Colour of links') },
      { description: 'Colours of pages.' },
    ),
    links: Type.Array(
      Type.Object(
        {
          label: Type.String({ description: 'Text of the link.' }),
          url: Type.String({ description: 'Its address.' }),
        },
        { description: 'One link.' },
      ),
      { description: 'Links of the operator: BRANDING_LINKS.' },
    ),
    external_auth_token_passthrough: Type.Boolean({
      description:
        'Whether a proxy in front says who a person is. Pages then hide links for signing in and out, and refresh no token.',
    }),
  },
  { $id: 'Branding', description: 'What pages show of the operator.' },
);
export type Branding = Static<typeof Branding>;

export const getBranding = {
  id: 'getBranding',
  service: 'auth-proxy-adapter',
  tag: 'People',
  method: 'get',
  path: '/api/self-hosted-branding',
  pathParameters: [],
  summary: 'Name, logo, colours and links of the operator',
  description: 'Asks for no key and no session.',
  success: {
    status: 200,
    description: 'What pages show.',
    schema: Branding,
    example: {
      name: 'Decision service',
      logo_url: null,
      colors: { primary: '#1f4b99', accent: '#0f766e' },
      links: [{ label: 'Help', url: 'https://help.example.com' }],
      external_auth_token_passthrough: false,
    },
  },
  errors: [],
} as const satisfies Operation;
