import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Debian's; elsewhere CHROMIUM names it. */
const program = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

/** Why nothing can be tried in a browser here; undefined where it can. */
export const notThere: string | undefined = existsSync(program)
  ? undefined
  : `not run: there is no ${program} (apt-get install chromium, or CHROMIUM=PROGRAM)`

/**
 * Headless, for pictures without scroll bars. For tests with them, as a person has it: what a page draws takes some of its own width then. A first start on a machine that is
 * busy was seen to fail.
 */
export async function openBrowser({ scrollBars = false } = {}): Promise<Browser> {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  for (let tries = 1; ; tries++) {
    try {
      return await chromium.launch({
        executablePath: program,
        args,
        ...(scrollBars && { ignoreDefaultArgs: ['--hide-scrollbars'] }),
      })
    } catch (error) {
      if (tries === 3) throw error
    }
  }
}
