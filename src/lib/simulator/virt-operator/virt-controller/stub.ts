import type { ControllerContext } from '../../machinery/controller.ts'
import { control } from '../../machinery/controller.ts'
export const runLauncherStub = (cx: ControllerContext) => control(cx, [], async () => undefined)
