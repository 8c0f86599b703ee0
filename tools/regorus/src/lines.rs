//! Rule of this file: evaluate Rego with regorus as Kata's agent does, one JSON line in, one JSON line out.
//!
//! ```text
//! {"policy": "package …", "v0": false}              -> {"loaded": true}      the policy of all lines after it
//! {"rule": "data.p.x", "state": {…}, "input": …}    -> {"value": …}          `state` is the document `data.pstate`
//! ```
//!
//! Either may answer {"undefined": true} or {"error": "…"}. `--version` prints the version of regorus that is inside.
//! Each program around it says which engine it makes and hands over its own Cargo.lock.

use std::error::Error;
use std::io::{self, BufRead, Write};

use regorus::{Engine, Value};

struct Held {
    engine: Engine,
    state: Value,
}

fn load(mut engine: Engine, text: &str, v0: bool) -> Result<Held, Box<dyn Error>> {
    engine.set_rego_v0(v0);
    engine.set_strict_builtin_errors(false);
    engine.add_policy("policy.rego".to_string(), text.to_string())?;
    let state = Value::new_object();
    engine.add_data(document(&state)?)?;
    Ok(Held { engine, state })
}

fn document(state: &Value) -> Result<Value, Box<dyn Error>> {
    let mut data = Value::new_object();
    data.as_object_mut()?.insert("pstate".into(), state.clone());
    Ok(data)
}

fn ask(held: &mut Held, asked: &Value) -> Result<Value, Box<dyn Error>> {
    if held.state != asked["state"] {
        held.state = asked["state"].clone();
        held.engine.clear_data();
        held.engine.add_data(document(&held.state)?)?;
    }
    held.engine.set_input(asked["input"].clone());
    let found = held.engine.eval_query(asked["rule"].as_string()?.to_string(), false)?;
    match found.result.as_slice() {
        [] => Ok(Value::Undefined),
        [one] if one.expressions.len() == 1 => Ok(one.expressions[0].value.clone()),
        _ => Err("more than one result".into()),
    }
}

fn answer(new: fn() -> Engine, held: &mut Option<Held>, line: &str) -> Result<String, Box<dyn Error>> {
    let asked = Value::from_json_str(line)?;
    if let Value::String(text) = &asked["policy"] {
        *held = None;
        *held = Some(load(new(), text, asked["v0"] == Value::from(true))?);
        return Ok(r#"{"loaded": true}"#.to_string());
    }
    let loaded = held.as_mut().ok_or("no policy is loaded")?;
    match ask(loaded, &asked)? {
        Value::Undefined => Ok(r#"{"undefined": true}"#.to_string()),
        value => Ok(format!(r#"{{"value": {}}}"#, serde_json::to_string(&value)?)),
    }
}

/// Answer standard input line by line until it ends. `new` makes the engine of a policy; `lock` is a Cargo.lock.
pub fn serve(new: fn() -> Engine, lock: &str) -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("--version") {
        let (_, after) = lock.split_once("name = \"regorus\"\nversion = \"").ok_or("no regorus in the lock")?;
        println!("v{}", after.split('"').next().unwrap_or_default());
        return Ok(());
    }
    let (mut held, mut out) = (None, io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let text = answer(new, &mut held, &line?).or_else(|error| {
            serde_json::to_string(&error.to_string()).map(|told| format!(r#"{{"error": {told}}}"#))
        })?;
        writeln!(out, "{text}")?;
        out.flush()?;
    }
    Ok(())
}
