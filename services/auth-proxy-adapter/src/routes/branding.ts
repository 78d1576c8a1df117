import { type Branding, getBranding } from '@decision/contracts';
import { type AdapterConfig, isPassthroughForBrowsers } from '../config';
import { type DoorRoute } from '../door/route';

type BrandingConfig = Pick<
  AdapterConfig,
  | 'brandingName'
  | 'brandingLogoUrl'
  | 'brandingPrimaryColor'
  | 'brandingAccentColor'
  | 'brandingLinks'
  | 'tokenPassthrough'
  | 'publicTokenPassthrough'
>;

/** Branding of pages. */
export const brandingOf = (config: BrandingConfig): Branding => ({
  name: config.brandingName,
  logo_url: config.brandingLogoUrl ?? null,
  colors: { primary: config.brandingPrimaryColor, accent: config.brandingAccentColor },
  links: config.brandingLinks.map((link) => {
    const at = link.indexOf('=');
    return { label: link.slice(0, at), url: link.slice(at + 1) };
  }),
  external_auth_token_passthrough: isPassthroughForBrowsers(config),
});

export const brandingRoute = (branding: Branding): DoorRoute => ({
  operation: getBranding,
  answer: () => ({ status: 200, body: branding }),
});
