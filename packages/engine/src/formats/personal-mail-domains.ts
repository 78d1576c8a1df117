/**
 * Domains at which anybody can get a mail address: the large providers and access providers. It cannot be complete; a domain that is
 * missing counts as one of work.
 */
export const personalMailDomains: ReadonlySet<string> = new Set(
  `
  gmail.com googlemail.com
  outlook.com outlook.de outlook.fr outlook.es outlook.it hotmail.com hotmail.co.uk hotmail.de hotmail.fr hotmail.es hotmail.it
  live.com live.co.uk live.de live.fr live.nl msn.com passport.com
  yahoo.com yahoo.co.uk yahoo.co.in yahoo.co.jp yahoo.de yahoo.fr yahoo.es yahoo.it yahoo.ca yahoo.com.br yahoo.com.au yahoo.com.mx
  ymail.com rocketmail.com aol.com aol.de aim.com
  icloud.com me.com mac.com
  proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tuta.io tuta.com hushmail.com
  gmx.com gmx.net gmx.de gmx.at gmx.ch gmx.fr web.de freenet.de t-online.de arcor.de mail.de posteo.de mailbox.org
  mail.com email.com usa.com fastmail.com fastmail.fm zoho.com zohomail.com inbox.com hey.com
  yandex.com yandex.ru ya.ru mail.ru bk.ru list.ru inbox.ru rambler.ru
  qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com aliyun.com naver.com daum.net hanmail.net nate.com
  rediffmail.com indiatimes.com
  orange.fr wanadoo.fr free.fr laposte.net sfr.fr neuf.fr
  libero.it virgilio.it tiscali.it alice.it tin.it
  telenet.be skynet.be ziggo.nl kpnmail.nl planet.nl xs4all.nl
  comcast.net verizon.net att.net sbcglobal.net bellsouth.net charter.net cox.net earthlink.net juno.com
  rogers.com shaw.ca sympatico.ca videotron.ca btinternet.com sky.com talktalk.net ntlworld.com virginmedia.com
  bigpond.com optusnet.com.au uol.com.br bol.com.br terra.com.br ig.com.br
  seznam.cz centrum.cz wp.pl o2.pl onet.pl interia.pl bluewin.ch hispeed.ch
  `
    .trim()
    .split(/\s+/),
);
