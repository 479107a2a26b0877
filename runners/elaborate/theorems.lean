/- Prints the names of the theorems that a compiled module declares where a person wrote them, one a line. -/
import Lean
open Lean

def main (arguments : List String) : IO Unit := do
  let module := (arguments.headD "").toName
  initSearchPath (← findSysroot)
  let env ← importModules #[{ module }] {}
  let some index := env.getModuleIdx? module
    | throw <| IO.userError "the module is not there"
  for name in env.header.moduleData[index.toNat]!.constNames do
    if let some (.thmInfo _) := env.find? name then
      unless name.isInternal || isPrivateName name || (declRangeExt.find? env name).isNone do
        IO.println (name.toString (escape := true))
