print("run once")
where = "beside the script"
