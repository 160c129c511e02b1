import type { Context } from '../../context.ts'
import type { Scenario } from '../../lib/simulator/scenarios/scenario.ts'
import { type ExitCode, exitCode } from '../../lib/system/exit-codes.ts'
import type { Wire } from '../../wire.ts'
import { upgradeCommand } from '../upgrade.ts'

/** `kvup upgrade` as it would be typed on the simulated cluster, through its own flags and defaults. */
export async function upgradeInside(
  inside: Context,
  { to, method, flags = [] }: Scenario['upgrade'],
): Promise<ExitCode> {
  let code: ExitCode = exitCode.done
  const here = { ...inside, world: { ...inside.world, commandLine: `kvup upgrade --to ${to}` } }
  const wire: Wire =
    (run) =>
    async (...all) => {
      const act = run as unknown as (cx: Context, options: object) => Promise<ExitCode | void>
      code = (await act(here, (all.at(-1) as { opts(): object }).opts())) ?? exitCode.done
    }
  const manifest = method === 'operator-manifest' ? ['--manifest', '-'] : []
  await upgradeCommand(wire).parseAsync(['--to', to, '--method', method, ...manifest, ...flags], {
    from: 'user',
  })
  return code
}
