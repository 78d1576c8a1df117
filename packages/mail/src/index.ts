export { createMailer, type Mail, MailFailure, type Mailer } from './mailer';
export { type MailServer, mailServerOf } from './mail-server';
