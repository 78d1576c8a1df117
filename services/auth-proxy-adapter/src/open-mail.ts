import { openMailer } from '@decision/infrastructure';
import { type Logger, type Metrics, type Stopper } from '@decision/service-kit';
import { type AdapterConfig } from './config';
import { type MailToPeople } from './sign-in/forgotten-password';

interface Opening {
  readonly config: AdapterConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stopper: Pick<Stopper, 'add'>;
}

/** Mails to people, if the operator has a mail server. */
export const openMail = ({ config, logger, metrics, stopper }: Opening): MailToPeople | undefined => {
  const mailer = openMailer(config, stopper);
  return mailer && { mailer, logger, metrics, publicUrl: config.publicUrl };
};
